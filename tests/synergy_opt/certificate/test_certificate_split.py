"""The split count of stage 2: each figure, and both bounds of a vertex."""

from dataclasses import fields, replace

import pytest
from certificate_cases import F, pair, placed, placement

from synergy_opt.answer import SplitBound
from synergy_opt.certificate import violations
from synergy_opt.model import Cluster, Instance, Job, Profile, Server


def vertex():
    """Give 3 servers of 2 GPUs and 4 cores, two jobs of 3 GPUs, cut once."""
    instance = Instance(
        name="three",
        cluster=Cluster(
            resources={"cpu": "c"}, servers=[Server(type="t", count=3, gpus=2, capacity=(4,))]
        ),
        profiles=[Profile(name="p", axes={"cpu": [1, 2]}, throughput=[1, 1])],
        jobs=[Job(id="A", gpus=3, profile="p"), Job(id="B", gpus=1, profile="p")],
    )
    jobs = (placed("A", {0: 2, 1: 1}, (6,), 1), placed("B", {1: 1}, (1,), 1))
    return instance, placement(*jobs, instance="three", split=COUNT)


# Servers 0 and 1 are joined by A, server 2 is empty: κ = 2, q(s − κ) = 2; tight are both rows of
# server 0 and the GPUs of server 1.
COUNT = SplitBound(
    servers=3, rows_per_server=2, components=2, extra_pieces=1, split_jobs=1, tight_rows=3
)


def test_a_vertex_passes():
    """Tests that right figures within the bounds break no rule."""
    instance, answer = vertex()
    assert answer.split.limit == 2
    assert violations(instance, answer) == ()


FIGURES = [field.name for field in fields(SplitBound) if field.name != "fewest"]


@pytest.mark.parametrize("name", FIGURES)
@pytest.mark.parametrize("step", [-1, 1])
def test_split_figure(name, step):
    """Tests that each figure is named when it is one off, with both numbers."""
    instance, answer = vertex()
    right = getattr(COUNT, name)
    (found,) = violations(instance, replace(answer, split=replace(COUNT, **{name: right + step})))
    assert (found.rule, found.where) == ("split-figure", f"$.split.{name}")
    assert found.message == f"states {right + step}, but the pieces show {right}"


def test_a_figure_is_an_integer():
    """Tests that a float that equals the figure is named."""
    instance, answer = vertex()
    (found,) = violations(instance, replace(answer, split=replace(COUNT, split_jobs=1.0)))
    assert (found.rule, found.where) == ("split-figure", "$.split.split_jobs")


@pytest.mark.parametrize(
    ("fewest", "right"), [(0, True), (1, True), (2, False), (-1, False), (1.0, False)]
)
def test_fewest_splits(fewest, right):
    """Tests that the fewest split jobs, a solver's word, are at most those of the placement."""
    instance, answer = vertex()
    found = violations(instance, replace(answer, split=replace(COUNT, fewest=fewest)))
    assert [(v.rule, v.where) for v in found] == (
        [] if right else [("split-figure", "$.split.fewest")]
    )


def test_whole_gpus_are_asked_only_without_a_split():
    """Tests that fractional pieces pass with a split count and are named without one."""
    instance, _ = vertex()
    jobs = (
        placed("A", {0: F(3, 2), 1: F(3, 2)}, (6,), 1),
        placed("B", {0: F(1, 2), 2: F(1, 2)}, (2,), 1),
    )
    count = replace(COUNT, components=1, extra_pieces=2, split_jobs=2, tight_rows=2)
    answer = placement(*jobs, instance="three", split=count)
    assert violations(instance, answer) == ()
    rules = {v.rule for v in violations(instance, replace(answer, split=None))}
    assert rules == {"whole-gpus", "one-gpu-whole"}


def every_job_cut(jobs, servers, components, tight):
    """Give `jobs` jobs of 1 GPU, each cut in halves between the servers 2·i and 2·i + 1."""
    instance = Instance(
        name="cut",
        cluster=Cluster(
            resources={"cpu": "c"},
            servers=[Server(type="t", count=servers, gpus=4, capacity=(4,))],
        ),
        profiles=[Profile(name="p", axes={"cpu": [1]}, throughput=[1])],
        jobs=[Job(id=f"J{i}", gpus=1, profile="p") for i in range(jobs)],
    )
    count = SplitBound(
        servers=servers,
        rows_per_server=2,
        components=components,
        extra_pieces=jobs,
        split_jobs=jobs,
        tight_rows=tight,
    )
    half = F(1, 2)
    cut = [placed(f"J{i}", {0: half, 1: half}, (1,), 1) for i in range(jobs)]
    return instance, placement(*cut, instance="cut", split=count)


def test_split_bound_by_tight_rows():
    """Tests that two cuts without a tight row are too many, though q(s − κ) is 2."""
    instance, answer = every_job_cut(2, 2, 1, 0)
    (found,) = violations(instance, answer)
    assert (found.rule, found.where) == ("split-bound", "$.split.tight_rows")
    assert found.message == "2 extra pieces are more than 0 tight rows"


def test_split_bound_by_components():
    """Tests that an answer that cuts every job, as interior points do, is above q(s − κ)."""
    instance, answer = every_job_cut(8, 2, 1, 4)
    rules = [(v.rule, v.message) for v in violations(instance, answer)]
    assert rules == [
        ("split-bound", "8 extra pieces are more than q(s − κ) = 2(2 − 1) = 2"),
        ("split-bound", "8 extra pieces are more than 4 tight rows"),
    ]


def test_pieces_on_unknown_servers_join_nothing():
    """Tests that a piece on a server that does not exist does not disturb the count."""
    instance, answer = vertex()
    lost = placed("B", {7: 1}, (1,), 1)
    (first, *rest) = violations(instance, replace(answer, jobs=(answer.jobs[0], lost)))
    assert first.rule == "server-exists"
    assert [(v.rule, v.where) for v in rest] == [("split-figure", "$.split.tight_rows")]


def test_components_of_a_chain():
    """Tests the union-find on a chain of jobs over all servers in both directions."""
    size = 6
    instance = Instance(
        name="chain",
        cluster=Cluster(
            resources={"cpu": "c"}, servers=[Server(type="t", count=size, gpus=2, capacity=(2,))]
        ),
        profiles=[Profile(name="p", axes={"cpu": [1]}, throughput=[1])],
        jobs=[Job(id=f"J{i}", gpus=2, profile="p") for i in range(size)],
    )
    for order in (range(size - 1), range(size - 2, -1, -1)):
        jobs = [placed(f"J{i}", {i: 1, i + 1: 1}, (2,), 1) for i in order]
        jobs.append(placed(f"J{size - 1}", {0: 1, size - 1: 1}, (2,), 1))
        count = SplitBound(
            servers=size,
            rows_per_server=2,
            components=1,
            extra_pieces=size,
            split_jobs=size,
            tight_rows=2 * size,
        )
        assert violations(instance, placement(*jobs, instance="chain", split=count)) == ()


def test_no_split_count_no_split_rules():
    """Tests that a placement without a split count may split as its GPUs allow."""
    assert violations(pair(), placement()) == ()


def test_what_is_said_of_the_fewest_splits():
    """Tests the message to the letter, for a number and for what is none."""
    instance, answer = vertex()
    for fewest, shown in ((2, "2"), (1.0, "1.0")):
        (found,) = violations(instance, replace(answer, split=replace(COUNT, fewest=fewest)))
        assert found.message == f"states {shown}, but 1 jobs are split here"


def test_where_too_many_pieces_are_named():
    """Tests the place of either inequality."""
    instance, answer = every_job_cut(8, 2, 1, 4)
    assert [v.where for v in violations(instance, answer)] == [
        "$.split.extra_pieces",
        "$.split.tight_rows",
    ]


def test_a_server_just_past_the_last_one_joins_nothing():
    """Tests a job with pieces on the first server and on the one after the last."""
    instance, answer = vertex()
    lost = placed("A", {0: 2, 3: 1}, (6,), 1)
    found = violations(instance, replace(answer, jobs=(lost, answer.jobs[1])))
    assert [(v.rule, v.where) for v in found] == [
        ("server-exists", "$.jobs[0].pieces[1].server"),
        ("split-figure", "$.split.components"),
        ("split-figure", "$.split.tight_rows"),
        ("split-bound", "$.split.extra_pieces"),
    ]
    assert found[0].message == "there is no server 3: they count from 0 to 2"
