"""The Synergy authors' simulator and ours on one list of jobs: FIFO, 128 GPUs, single-GPU jobs.

Takes a folder with ``profiles.json`` and ``fifo-load9-jobs.csv`` and gives a row a mechanism: mean
and 99th percentile of the completion time of jobs 4000–4999, in hours, with the older semantics
and with exact ones, beside what msr-fiddle/synergy gives on the same list.

    python -m benchmarks.synergy.golden ../shared/data/synergy-reference
"""

from __future__ import annotations

import argparse
import csv
import json
import time
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path

import numpy as np

from synergy_opt.exact import exact
from synergy_opt.greedy import greedy
from synergy_opt.model import Cluster, Profile, Server
from synergy_opt.proportional import proportional
from synergy_opt.simulation import Run, Timing, TraceJob, Workload, simulate
from synergy_opt.tune import tune, tune_as_simulated

WINDOW = (4000, 5000)
MEAN = {  # h, their simulator
    "proportional": 81.089,
    "tune-simulated": 21.877,
    "tune": 21.877,
    "greedy": 24.984,
}
P99 = {"proportional": 214.61, "tune-simulated": 156.93, "tune": 156.93}
MECHANISMS = {
    "proportional": proportional,
    "tune-simulated": tune_as_simulated,
    "tune": tune,
    "greedy": greedy,
}
CLUSTER = Cluster(
    resources={"cpu": "cores", "memory": "GB"},
    servers=[Server(type="node", count=16, gpus=8, capacity=(Fraction(24), Fraction(500)))],
)


def profiles(path: Path) -> Mapping[str, Profile]:
    """Read the profiles in iterations/s: relative throughput over the seconds of an iteration."""
    document = json.loads(path.read_text())
    cpu, memory = document["axes"]["cpu_per_gpu"], document["axes"]["memory_gb_per_gpu"]
    found = {}
    for entry in document["profiles"]:
        if entry["ratio"] == 3 and entry["gpus"] == 1:
            seconds = exact(entry["iter_time"])
            table = [[exact(value) / seconds for value in row] for row in entry["tput"]]
            axes = {"cpu": cpu, "memory": memory}
            found[entry["name"]] = Profile(
                name=entry["name"], axes=axes, throughput=table, unit="iterations/s"
            )
    return found


def workload(folder: Path, name: str = "fifo-load9-jobs.csv") -> Workload:
    """Read a list of jobs: arrival, model, iterations and seconds of one at the fair share."""
    known = profiles(folder / "profiles.json")
    with (folder / name).open(newline="") as lines:
        jobs = tuple(
            TraceJob(
                row["job"],
                exact(row["arrival_s"]),
                int(row["iterations"]) * exact(row["iteration_s_at_share"]),
                int(row["gpus"]),
                row["model"],
            )
            for row in csv.DictReader(lines)
        )
    return Workload(name, {job.profile: known[job.profile] for job in jobs}, jobs)


def hours(run: Run) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Give the completion times of the measured jobs in hours."""
    return np.array([float(job.completion or 0) / 3600 for job in run.measured])


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--jobs", default="fifo-load9-jobs.csv", help="list of jobs in the folder")
    parser.add_argument("--mechanism", action="append", choices=sorted(MECHANISMS))
    options = parser.parse_args()
    trace = workload(options.folder, options.jobs)
    reference = options.jobs == "fifo-load9-jobs.csv"
    print(
        "mechanism     semantics  mean h   theirs  differs   p99 h   theirs  rounds decided CPU s"
    )
    for name in options.mechanism or MECHANISMS:
        for older in (True, False):
            start = time.process_time()
            run = simulate(
                trace, CLUSTER, mechanism=MECHANISMS[name],
                timing=Timing(floor_iterations=older), window=WINDOW,
            )  # fmt: skip
            seconds, found = time.process_time() - start, hours(run)
            mean, tail = found.mean(), np.percentile(found, 99)
            theirs = MEAN[name] if reference else float("nan")
            print(
                f"{name:13} {'older' if older else 'exact':9} {mean:7.3f}  {theirs:7.3f} "
                f"{mean / theirs - 1:+7.2%}  {tail:7.2f}  "
                f"{P99.get(name, float('nan')) if reference else float('nan'):7.2f} "
                f"{run.rounds:6} {run.decisions:6}  {seconds:5.1f}"
            )


if __name__ == "__main__":
    main()
