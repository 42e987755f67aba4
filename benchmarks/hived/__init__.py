"""Speed and endurance of `hived_cells`; each module is a command."""
