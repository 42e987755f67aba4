"""The archive of best-known bounds: each with its date, method, machine and certificate."""
