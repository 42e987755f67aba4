"""What the benchmark tests share: tasks, and a small archive made from real runs."""

import os
from pathlib import Path

import pytest

from benchmarks.archive.records import read_archive
from benchmarks.archive.update import run as update
from benchmarks.environment import environment, today
from benchmarks.instances.catalog import catalog, load
from benchmarks.methods import call, method
from benchmarks.rows import append
from benchmarks.task import Task, judged
from synergy_opt.io import write_placement
from synergy_opt.solution import Limits

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def task(monkeypatch):
    """Give a function that makes a task; the methods of these tests can be imported by name."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), str(Path(__file__).parent)]))

    def make(name, *, instance="widest-gap-10", seconds=5.0, memory=4096, seed=0):
        text = f"bench_methods{name}" if name.startswith(":") else name
        return Task(instance=instance, method=method(text), seed=seed, time=seconds, memory=memory)

    return make


@pytest.fixture(scope="session")
def results(tmp_path_factory):
    """Give results of `packed`, `ideal-core` and `proportional`, without child processes."""
    path = tmp_path_factory.mktemp("results") / "results.jsonl"
    for name in ("widest-gap-10", "triplets-3-0", "groups-4-0"):
        instance = load(name)
        for text in ("packed", "ideal-core", "proportional"):
            used = method(text)
            found = call(used.target, instance, Limits(time=20), used.settings)
            answer = path.parent / "placement.json"
            write_placement(found.placement, instance, answer)
            row = {"instance": name, "sha256": catalog()[name].sha256}
            row |= {"servers": instance.cluster.server_count, "jobs": len(instance.jobs)}
            row |= {"method": text, "problem": used.problem, "exact": used.exact, "seed": 0}
            row |= {"time_limit": 20.0, "memory_limit": 4096, "date": today()}
            row |= {"environment": environment(), "outcome": "done", "message": ""}
            row |= {"seconds": 0.5, "cpu_seconds": 0.5, "said": found.said, "claimed_bound": None}
            append(path, row | judged(instance, answer), answer.read_bytes())
    return path


@pytest.fixture
def archive(results, tmp_path):
    """Give a fresh archive of these results."""
    import argparse

    path = tmp_path / "best_known.json"
    assert update(argparse.Namespace(results=results, archive=path)) == 0
    assert read_archive(path)
    return path
