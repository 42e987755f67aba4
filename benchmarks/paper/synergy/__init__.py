"""The evaluation of the Synergy paper (OSDI '22): one entry a figure or table.

Run one as ``python -m benchmarks.paper.synergy fig9``, all as ``python -m benchmarks.paper.synergy
all``; ``--full`` takes the paper's sizes. Each entry sets the published figure beside ours.
"""
