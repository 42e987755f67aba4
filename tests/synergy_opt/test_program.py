"""Programmes as data: rows, scales and names."""

import math
from fractions import Fraction

import numpy as np

from synergy_opt.generate import mix
from synergy_opt.ideal import ideal_allocation
from synergy_opt.ideal.relaxation import with_columns
from synergy_opt.kinds import kinds
from synergy_opt.model import Cluster, Instance, Job, Profile, Server
from synergy_opt.placement import stage_2_program
from synergy_opt.program import ideal_program
from synergy_opt.runnable import runnable


def test_resource_rows_are_coprime_integers():
    """Tests that 62.5 and 20.83 GB become whole numbers, so that no tolerance can hide a unit."""
    cluster = Cluster(
        resources={"memory": "GB"}, servers=[Server(type="n", count=2, gpus=2, capacity=(125,))]
    )
    profile = Profile(name="p", axes={"memory": [20.83, 62.5]}, throughput=[1, 2])
    jobs = [Job(id=i, gpus=1, profile="p") for i in "ab"]
    instance = Instance(name="i", cluster=cluster, profiles=[profile], jobs=jobs)
    shown = kinds(instance, jobs)
    program = ideal_program("i", shown, cluster, rows=True)
    assert program.row_names == ("capacity_memory", "jobs_0", "floor_0")
    assert program.value.tolist() == [2083, 6250, 1, 1, 1, 2]
    assert program.row_upper.tolist() == [25_000, 2, math.inf]
    assert program.row_lower.tolist() == [-math.inf, 2, 4]
    assert program.upper.tolist() == [2, 2]
    assert program.scale == 2
    assert program.shape == (3, 2)


def test_costs_too_fine_for_a_scale():
    """Tests that costs with no common denominator below 2^53 have scale 0."""
    fine = Fraction(1, 3**40)
    cluster = Cluster(
        resources={"cpu": "cores"}, servers=[Server(type="n", count=1, gpus=1, capacity=(1,))]
    )
    profile = Profile(name="p", axes={"cpu": [1, 2]}, throughput=[1, 1 + fine])
    jobs = [Job(id="a", gpus=1, profile="p")]
    instance = Instance(name="i", cluster=cluster, profiles=[profile], jobs=jobs)
    found = kinds(instance, jobs, consolidated=False)
    assert ideal_program("i", found, cluster).scale == 0


def test_stage_1_size_depends_on_kinds_only():
    """Tests that 12 models at 4 GPU demands never need more than 48 rows beside the resources."""
    for servers in (32, 128, 512):
        instance = mix(servers=servers, seed=1)
        merged = kinds(instance, runnable(instance))
        shape = ideal_program("i", with_columns(merged, rows=False), instance.cluster).shape
        assert shape[0] <= 2 + 48


def test_stage_2_has_a_row_a_job_and_q_rows_a_server():
    """Tests the rows and columns of the whole stage-2 programme."""
    instance = mix(servers=3, seed=2)
    program = stage_2_program(instance, ideal_allocation(instance))
    jobs = len(instance.jobs)
    assert program.shape == (jobs + 3 * 3, jobs * 3)
    assert len(set(program.row_names)) == len(program.row_names)
    assert len(set(program.column_names)) == len(program.column_names)
    assert set(np.unique(program.cost)) <= {0.0, 1.0}


def test_names_that_files_can_hold():
    """Tests that any resource name gives unique row names of ASCII letters, digits and _."""
    names = {"GPU memory": "GB", "GPU-memory": "GB", "Speicher ü": "GB"}
    cluster = Cluster(
        resources=names, servers=[Server(type="n", count=1, gpus=1, capacity=(1, 1, 1))]
    )
    profile = Profile(name="p", axes={name: [1] for name in names}, throughput=[[[1]]])
    jobs = [Job(id="a", gpus=1, profile="p")]
    instance = Instance(name="i", cluster=cluster, profiles=[profile], jobs=jobs)
    rows = ideal_program("i", kinds(instance, jobs), cluster).row_names
    assert rows == (
        "capacity_GPU_memory_r0",
        "capacity_GPU_memory_r1",
        "capacity_Speicher__",
        "jobs_0",
    )
