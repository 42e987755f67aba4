"""The papers' evaluations, one command a figure."""
