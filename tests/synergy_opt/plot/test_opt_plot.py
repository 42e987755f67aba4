"""Pictures: what is in them, and what is said where they cannot be drawn."""

import builtins
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from synergy_opt import (
    Cluster,
    Instance,
    Job,
    Placement,
    Profile,
    Server,
    compare,
    greedy,
    mix,
    plot,
    proportional,
    shipped,
    tune,
)
from synergy_opt.errors import InvalidInstance


def test_a_sensitivity_has_a_line_for_each_level_that_matters():
    """Tests lines, labels, share and ring of a picture, for one resource and for three."""
    figure = plot.sensitivity(shipped("worked-example"), "J2")
    (axes,) = figure.axes
    labels = axes.get_legend_handles_labels()[1]
    assert labels == ["80 GB memory", "250 GB memory", "420–500 GB memory", "fair throughput"]
    assert axes.get_xlabel() == "cpu, cores"
    assert axes.get_ylabel() == "throughput, items/s"
    assert max(max(line.get_xdata()) for line in axes.get_lines()) <= 24  # cores of a server
    ring = axes.get_lines()[-1]
    assert (ring.get_xdata()[0], ring.get_ydata()[0]) == (12, 640)
    assert plot.sensitivity(shipped("three-resources"), "J4").axes
    one = Instance(
        name="one",
        cluster=Cluster(
            resources={"net": ""}, servers=[Server(type="n", count=1, gpus=1, capacity=(2,))]
        ),
        profiles=[Profile(name="p", axes={"net": [1, 2]}, throughput=[1, 2], per="job")],
        jobs=[Job(id="a", gpus=1, profile="p")],
    )
    (axes,) = plot.sensitivity(one, "a").axes
    assert axes.get_xlabel() == "net"
    assert axes.get_ylabel() == "throughput"


@pytest.mark.parametrize("servers", [2, 30])
def test_utilisation_has_a_panel_a_resource(servers: int):
    """Tests that few servers are bars whose heights are the parts in use, and many are lines."""
    instance = mix(servers=servers, seed=3, split=(1, 1, 1))
    placements = {"proportional": proportional(instance), "greedy": greedy(instance)}
    figure = plot.utilisation(instance, placements)
    assert [axes.get_ylabel() for axes in figure.axes] == [
        "GPUs in use, %",
        "cpu in use, %",
        "memory in use, %",
    ]
    for axes in figure.axes:
        if servers == 2:
            tops = [patch.get_y() + patch.get_height() for patch in axes.patches]
            assert max(tops) == pytest.approx(100)
        else:
            assert len(axes.get_lines()) == 3


def test_gaps_mark_what_has_no_bound():
    """Tests bars, their texts, and the text where no bound holds."""

    def first_only(instance: Instance) -> Placement:
        placement = proportional(instance)
        out = {"demand": (Fraction(0),) * 2, "throughput": Fraction(0), "pieces": ()}
        rest = [replace(job, **out) for job in placement.jobs[1:]]
        return replace(placement, jobs=(placement.jobs[0], *rest))

    def broken(instance: Instance) -> Placement:
        return replace(proportional(instance), jobs=())

    mechanisms = {"proportional": proportional, "one": first_only, "broken": broken}
    found = [compare(shipped("worked-example"), mechanisms), compare(shipped("two-groups"), {})]
    (axes,) = plot.gaps(found).axes
    assert [t.get_text() for t in axes.texts] == ["42", "none", "467*", "none", "none", "none"]
    assert axes.get_xlabel().startswith("* jobs left out")
    assert plot.gaps([]).axes
    (axes,) = plot.gaps([compare(shipped("worked-example"), {"tune": tune})]).axes
    assert axes.get_xlabel() == ""


def test_a_missing_matplotlib_is_said_in_one_sentence(monkeypatch: pytest.MonkeyPatch):
    """Tests that the message names the extra to install."""
    real = builtins.__import__

    def without(name: str, *rest: object) -> object:
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(InvalidInstance, match=r"synergy-hived\[plot\]"):
        plot.gaps([])


def test_only_known_formats_are_written(tmp_path: Path):
    """Tests that another ending is refused and leaves no file."""
    figure = plot.gaps([])
    with pytest.raises(InvalidInstance, match="not in nothing"):
        plot.save(figure, tmp_path / "picture")
    assert list(tmp_path.iterdir()) == []
