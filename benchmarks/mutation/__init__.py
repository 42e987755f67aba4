"""Mutation testing in one process: each mutant in a child, with the tests that call it."""
