"""Benchmarks of synergy_opt; each module is a command."""
