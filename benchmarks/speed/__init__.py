"""How long each stage takes, as ratios to a calibration workload measured beside it."""
