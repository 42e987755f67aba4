"""Benchmark instances by name: families with seeds, checksums and provenance (`catalog`)."""
