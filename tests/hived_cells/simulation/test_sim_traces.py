"""Traces: what is read is refused with its line or kept exactly; what is published is met."""

import gzip
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sim_builders import clusters, traces

from hived_cells import InvalidSpec
from hived_cells.simulation import (
    ProductionOptions,
    Shape,
    Trace,
    TraceJob,
    production_trace,
    read_philly,
    read_trace,
    soften,
    with_shapes,
    without,
)
from hived_cells.simulation.shapes import between
from hived_cells.simulation.trace_file import COLUMNS, trace_text

HEAD = ",".join(COLUMNS) + "\n"
GOOD = HEAD + "j1,A,0,60,1,8,hard\nj2,B,5,1,2,8,soft\n"
TWO = Trace(
    [TraceJob("j1", "A", 0, 60, Shape(1, 8)), TraceJob("j2", "B", 5, 1, Shape(2, 8, True))]
)

BAD_ROWS = {
    "j1,A,0,60,1,8\n": "line 2: 6 fields, 7 are needed",
    "j1,A,0,60,1,8,hard,x\n": "line 2: 8 fields, 7 are needed",
    "j1,A,0,0,1,8,hard\n": "line 2: job 'j1': duration is 0; a whole number from 1",
    "j1,A,-1,60,1,8,hard\n": "line 2: submit is '-1'; a whole number of 1 to 12 digits is needed",
    "j1,A,0,1.5,1,8,hard\n": "line 2: duration is '1.5'; a whole number of 1 to 12",
    "j1,A,0,nan,1,8,hard\n": "line 2: duration is 'nan'; a whole number of 1 to 12",
    "j1,A,0,60,0,8,hard\n": "line 2: job 'j1': nodes is 0",
    "j1,A,0,60,1,8,firm\n": "line 2: affinity 'firm' is neither 'hard' nor 'soft'",
    ",A,0,60,1,8,hard\n": "line 2: job '': its name is ''",
    "j1,A,0,60,1,8,hard\n\nj1,A,1,60,1,8,hard\n": "line 4: job 'j1' is there twice",
    "j1,A,0,99999999999,1,8,hard\n": "line 2: job 'j1': duration is 99999999999",
    "j1,A,²,60,1,8,hard\n": "line 2: submit is '²'; a whole number of 1 to 12 digits is needed",
    'j1,"A,0,60,1,8,hard\n': "line 2: unexpected end of data",
}


def written(tmp_path, data):
    path = tmp_path / "trace.csv"
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


@pytest.mark.parametrize(
    "data",
    [
        GOOD,
        GOOD.replace("\n", "\r\n"),
        gzip.compress(GOOD.encode(), mtime=0),
        "\ufeff" + GOOD,
        GOOD + "\n",
    ],
    ids=["plain", "crlf", "gzip", "byte-order-mark", "empty-line"],
)
def test_the_same_table_in_any_dress(tmp_path, data):
    """Tests line ends, gzip, a byte order mark and empty lines."""
    assert read_trace(written(tmp_path, data)) == TWO


@pytest.mark.parametrize(("rows", "message"), BAD_ROWS.items())
def test_a_bad_row_is_refused_with_its_line(tmp_path, rows, message):
    """Tests each rule of the format."""
    path = written(tmp_path, HEAD + rows)
    with pytest.raises(InvalidSpec) as error:
        read_trace(path)
    assert f"{path}: {message}" in str(error.value)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n",
            "line 1: a Git LFS pointer",
        ),
        (b"", "line 1: columns are []"),
        (b"job,tenant\n", "line 1: columns are"),
        (HEAD.encode() + b"j1,\xff,0,60,1,8,hard\n", "line 2: not UTF-8"),
        (gzip.compress(GOOD.encode(), mtime=0)[:-9], "broken gzip"),
    ],
    ids=["lfs", "empty", "columns", "encoding", "gzip"],
)
def test_what_is_no_table_is_refused(tmp_path, data, message):
    """Tests files that are something else."""
    with pytest.raises(InvalidSpec, match=message.replace("[", r"\[")):
        read_trace(written(tmp_path, data))


@given(data=st.data())
def test_a_trace_survives_being_written_and_read(tmp_path_factory, data):
    """Tests that text → trace → text is the same for any trace."""
    trace = data.draw(traces(*data.draw(clusters())))
    path = tmp_path_factory.mktemp("trace") / "t.csv"
    path.write_text(trace_text(trace))
    assert read_trace(path) == trace


def test_the_published_numbers_of_the_production_trace():
    """Tests the anchors of the paper: jobs, nodes, tenants, mixes, shares, load on 200 nodes."""
    options = ProductionOptions()
    trace = production_trace(options, seed=3)
    assert (len(trace.jobs), options.nodes * options.node_gpus) == (141_950, 2_232)
    assert len(trace.tenants) == 11
    sizes = {
        tenant: Counter(job.shape.total for job in trace.jobs if job.tenant == tenant)
        for tenant in trace.tenants
    }
    share = {
        tenant: {size: round(100 * n / count.total()) for size, n in count.items()}
        for tenant, count in sizes.items()
    }
    assert (share["prod-a"][8], share["prod-e"][1]) == (72, 94)
    owned = options.quotas["prod-a"] + options.quotas["res-f"]
    assert round(100 * owned / options.nodes) == 37
    assert sum(options.quotas.values()) == 279
    demand = sum(trace.gpu_seconds().values()) / (options.days * 86400)
    assert 0.89 < demand / (200 * 8) < 0.92
    assert trace.end < options.days * 86400


def test_seeds_and_options_do_what_they_say():
    """Tests that a seed gives one trace, another seed another, and options move what they name."""
    small = {"nodes": 40, "jobs": 900, "days": 5}
    base = production_trace(ProductionOptions(**small), seed=1)
    assert base == production_trace(ProductionOptions(**small), seed=1)
    assert base != production_trace(ProductionOptions(**small), seed=2)
    light = production_trace(ProductionOptions(**small, load=30), seed=1)
    ratio = sum(light.gpu_seconds().values()) / sum(base.gpu_seconds().values())
    assert 0.4 < ratio < 0.55
    short = production_trace(ProductionOptions(**small, longest=1), seed=1)
    assert max(job.duration for job in short.jobs) <= 86400
    with pytest.raises(InvalidSpec, match="too few"):
        production_trace(ProductionOptions(nodes=5))
    with pytest.raises(InvalidSpec, match="jobs is 0; a whole number from 1 to 10000000"):
        ProductionOptions(jobs=0)
    with pytest.raises(InvalidSpec, match="memory is 100; it is at most 99"):
        ProductionOptions(memory=100)
    with pytest.raises(InvalidSpec, match="day_swing is 101; it is at most 100"):
        ProductionOptions(day_swing=101)


def test_the_philly_list(reference_data):
    """Tests the public list: jobs, virtual clusters, and that no shape is beyond whole nodes."""
    path = reference_data / "philly" / "philly_jobs.csv.gz"
    trace = read_philly(path)
    assert len(trace.jobs) == 82_247
    assert trace.jobs[0].submit == 0
    for job in trace.jobs:
        assert job.shape.nodes == 1 or job.shape.gpus == 8


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("2017-13-09 07:01:55,66.0,1,66.0,a", "line 2: timestamp is '2017-13-09 07:01:55'"),
        ("2017-10-09 07:01:55,None,1,66.0,a", "line 2: duration is 'None'"),
        ("2017-10-09 07:01:55,6.x,1,66.0,a", "line 2: duration is '6.x'"),
        ("2017-10-09 07:01:55,66.0,0,0,a", "line 2: job 'p1': GPUs a node is 0"),
        ("2017-10-09 07:01:55,66.0,1,66.0,", "line 2: job 'p1': its tenant is ''"),
    ],
)
def test_a_bad_row_of_the_philly_list_is_refused(tmp_path, row, message):
    """Tests the rules of the Philly columns."""
    path = written(tmp_path, f"timestamp,duration,num_gpus,gpu_time,cluster\n{row}\n")
    with pytest.raises(InvalidSpec, match=message):
        read_philly(path)


@given(data=st.data())
def test_rewritten_shapes_keep_the_demand(data):
    """Tests that a tenant's GPU-seconds stay but for less than one more second of one job."""
    trace = data.draw(traces(*data.draw(clusters())))
    tenant = data.draw(st.sampled_from(trace.tenants))
    gpus = data.draw(st.sampled_from([1, 8, 16]))
    rewritten = with_shapes(trace, {tenant: gpus})
    assert {j.shape.total for j in rewritten.jobs if j.tenant == tenant} <= {gpus}
    before, after = trace.gpu_seconds(), rewritten.gpu_seconds()
    for name in trace.tenants:
        lost = before[name] - after.get(name, 0)
        assert 0 <= lost < (gpus if name == tenant else 1)


@given(data=st.data())
def test_parts_of_a_trace(data):
    """Tests that a trace is its parts by time, and its tenants' parts."""
    trace = data.draw(traces(*data.draw(clusters())))
    cut = data.draw(st.integers(0, 70))
    parts = [between(trace, 0, cut), between(trace, cut, 100)]
    assert sum(len(part.jobs) for part in parts) == len(trace.jobs)
    assert all(job.submit < cut for job in parts[0].jobs)
    gone = without(trace, {trace.tenants[0]})
    assert gone.tenants == trace.tenants[1:]
    everything = soften(trace, 100, seed=0)
    assert all(job.shape.soft or job.shape.total == 1 for job in everything.jobs)
    assert soften(trace, 0, seed=0) == trace
