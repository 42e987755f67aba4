"""Tables, profiles and growth of results; `command` is ``python -m benchmarks report``."""
