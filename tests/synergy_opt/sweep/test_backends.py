"""A sweep gives the same bytes whoever computes it: one process, four, Dask or Ray."""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from synergy_opt.cli import main

SWEEP = ["simulate", "--servers", "1", "--jobs", "12", "--load", "3", "--seeds", "2"]


def files(folder: Path, *options: str) -> dict[str, bytes]:
    """Run the sweep and give the files that it leaves."""
    assert main([*SWEEP, *options, "--output", str(folder)]) == 0
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_four_processes_give_the_bytes_of_one(tmp_path: Path):
    """Tests same seed, same bytes: every run, and the two tables over all."""
    one = files(tmp_path / "one")
    assert len(one) == 2 * 2 + 2
    assert files(tmp_path / "four", "--workers", "4") == one


def test_a_dask_cluster_gives_the_bytes_of_one_process(tmp_path: Path):
    """Tests a scheduler with two workers of its own, found by its address."""
    distributed = pytest.importorskip("distributed")
    with (
        warnings.catch_warnings(),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None
        ) as cluster,
    ):
        warnings.simplefilter("ignore")  # what libraries we do not choose deprecate
        argv = ["--backend", "dask", "--address", cluster.scheduler_address, "--workers", "2"]
        assert files(tmp_path / "dask", *argv) == files(tmp_path / "one")


def test_ray_gives_the_bytes_of_one_process(tmp_path: Path):
    """Tests a local Ray, in a process of its own: Ray leaves to its exit what it has started."""
    pytest.importorskip("ray")
    argv = [sys.executable, "-m", "synergy_opt", *SWEEP, "--backend", "ray", "--workers", "2"]
    folder = tmp_path / "ray"
    subprocess.run([*argv, "--output", f"{folder}"], check=True, stdout=subprocess.DEVNULL)
    found = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert found == files(tmp_path / "one")
