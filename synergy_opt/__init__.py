"""Division of a GPU cluster's CPU and memory among training jobs (Synergy, OSDI 2022)."""
