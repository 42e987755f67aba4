"""One simulation by its settings alone, and the document that it becomes.

Takes a `Scenario`, which travels to other processes and says everything that a run depends on, and
gives a `Run` and its document in plain values.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import msgspec

from synergy_opt.exact import decimal_text
from synergy_opt.io.instance_file import instance_text
from synergy_opt.io.workload_csv import workload_text
from synergy_opt.model import Cluster, Instance
from synergy_opt.simulation import POLICIES, Run, Timing, Workload, simulate
from synergy_opt.simulation.engine import Mechanism
from synergy_opt.simulation.metrics import Summary, summary
from synergy_opt.simulation.simulate import Progress
from synergy_opt.versions import __version__, source_digest

SCHEMA = "synergy-opt/run/1"
PolicyName = Literal["fifo", "srtf", "las", "ftf"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """Everything that a run depends on.

    Parameters
    ----------
    workload, cluster
        What runs where.
    load, seed
        Of the generator, for tables; None for a trace from a file.
    policy, mechanism
        Names.
    own
        A digest of the file of a user's own mechanism; None for a built-in one.
    timing, window
        See `simulate`.
    """

    workload: Workload
    cluster: Cluster
    load: Fraction | None
    seed: int | None
    policy: PolicyName
    mechanism: str
    own: str | None
    timing: Timing
    window: tuple[int, int] | None

    @property
    def settings(self) -> dict[str, object]:
        """The settings in plain values; workload, cluster and code by what they hold."""
        instance = Instance(
            name="settings",
            cluster=self.cluster,
            profiles=self.workload.profiles.values(),
            jobs=(),
        )
        content = instance_text(instance) + workload_text(self.workload)
        timing = self.timing
        return {
            "version": __version__,
            "code": source_digest(),
            "workload": self.workload.name,
            "content": hashlib.sha256(content.encode()).hexdigest(),
            "servers": self.cluster.server_count,
            "gpus": self.cluster.gpus,
            "load": None if self.load is None else decimal_text(self.load),
            "seed": self.seed,
            "policy": self.policy,
            "mechanism": self.mechanism,
            "own": self.own,
            "round": None if timing.fluid else decimal_text(timing.round_length),
            "sticky": timing.sticky,
            "move_cost": decimal_text(timing.move_cost),
            "profiling_time": decimal_text(timing.profiling_time),
            "floor_iterations": timing.floor_iterations,
            "window": None if self.window is None else list(self.window),
        }

    @property
    def key(self) -> str:
        """Name of the scenario's file: readable, and different for different settings."""
        settings = self.settings
        digest = hashlib.sha256(msgspec.json.encode(settings, order="sorted")).hexdigest()[:16]
        mechanism = "".join(c if c.isalnum() or c == "-" else "_" for c in self.mechanism)
        return f"{self.policy}-{mechanism[:40]}-{digest}"


def played(
    scenario: Scenario,
    mechanism: Mechanism,
    *,
    shown: Literal["runnable", "queue"] | None = None,
    progress: Progress | None = None,
) -> dict[str, object]:
    """Simulate a scenario and give its document: settings, summary, jobs, usage."""
    run = simulate(
        scenario.workload,
        scenario.cluster,
        policy=POLICIES[scenario.policy],
        mechanism=mechanism,
        timing=scenario.timing,
        window=scenario.window,
        shown=shown,
        progress=progress,
    )
    return document(run, scenario.settings)


def document(run: Run, settings: Mapping[str, object]) -> dict[str, object]:
    """Write a run in plain values: exact numbers as strings, statistics as numbers."""
    names = ("gpus", *run.cluster.names)
    return {
        "schema": SCHEMA,
        "settings": dict(settings),
        "summary": {
            **_figures(summary(run), names),
            "rounds": run.rounds,
            "decisions": run.decisions,
        },
        "jobs": [
            {
                "id": job.id,
                "gpus": job.gpus,
                "profile": job.profile,
                "submitted": decimal_text(job.submitted),
                "duration": decimal_text(job.duration),
                "started": None if job.started is None else decimal_text(job.started),
                "finished": None if job.finished is None else decimal_text(job.finished),
                "ran": decimal_text(job.ran),
                "moves": job.moves,
            }
            for job in run.measured
        ],
        "usage": {
            "columns": ["start", "end", *names, "running", "waiting"],
            "capacity": [run.cluster.gpus, *map(float, run.cluster.capacity)],
            "rows": [
                [
                    float(usage.start),
                    float(usage.end),
                    *map(float, usage.used),
                    usage.running,
                    usage.waiting,
                ]
                for usage in run.usage
            ],
        },
    }


def _figures(found: Summary, names: tuple[str, ...]) -> dict[str, object]:
    return {
        "jobs": found.jobs,
        "mean_s": float(found.mean),
        "median_s": found.median,
        "p95_s": found.p95,
        "p99_s": found.p99,
        "makespan_s": float(found.makespan),
        "queueing_s": float(found.queueing),
        "fairness": float(found.fairness),
        "worst_fairness": float(found.worst_fairness),
        "slowest": decimal_text(found.slowest),
        "moves": found.moves,
        "utilisation": dict(zip(names, map(float, found.utilisation), strict=True)),
    }
