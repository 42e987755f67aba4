"""Pictures of facts: performance profiles and growth.

Takes facts and a folder and gives the files written; matplotlib is imported here alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl

from benchmarks.metrics import growth_exponent
from benchmarks.problems import PROBLEMS
from benchmarks.report.analysis import common, growth, profile_of
from benchmarks.report.facts import Fact

mpl.use("Agg")
import matplotlib.pyplot as plt

_STYLES = ("-", "--", "-.", ":")
_MARKS = "osD^vP*X<>"
_NAMES = {"whole": "packed optimum, jobs whole", "ideal": "Synergy-OPT, stage 1"}


def draw(facts: Sequence[Fact], folder: Path) -> list[tuple[str, str]]:
    """Draw what there is enough of; give pairs of file name and caption."""
    found = []
    for problem in PROBLEMS:
        profile = profile_of(facts, problem)
        if profile is not None:
            runs = len(next(iter(common(facts, problem).values())))
            name = f"profile-{problem}.png"
            _profile(*profile, f"{_NAMES.get(problem, problem)} ({runs} runs)", folder / name)
            found.append((name, f"Performance profile, {problem}: Dolan and Moré, 2002"))
    grown = growth(facts)
    if grown:
        _growth(grown, folder / "growth.png")
        found.append(("growth.png", "Processor time on the paper's mixes, with fitted exponents"))
    return found


def _profile(tau: Sequence[float], parts: dict[str, list[float]], title: str, path: Path) -> None:
    figure, axes = plt.subplots(figsize=(7.5, 4.2), layout="constrained")
    order = sorted(parts, key=lambda name: -sum(parts[name]))
    for k, name in enumerate(order):
        style = _STYLES[k % len(_STYLES)]
        axes.step(tau, parts[name], where="post", label=name, linestyle=style, color=f"C{k}")
    axes.set_xscale("log")
    axes.set_xlabel("τ: times the fastest method's processor time")
    axes.set_ylabel("part of the runs solved within τ")
    axes.set_ylim(-0.02, 1.05)
    axes.set_xlim(1, 1.1 * tau[-1])
    axes.set_title(title)
    axes.grid(alpha=0.3)
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)
    _save(figure, path)


def _growth(grown: dict[str, tuple[list[int], list[float]]], path: Path) -> None:
    figure, axes = plt.subplots(figsize=(7.5, 4.2), layout="constrained")
    for k, (name, (sizes, times)) in enumerate(grown.items()):
        fitted = growth_exponent(sizes, times)
        label = name if fitted is None else f"{name}: a = {fitted[0]:.2f}"
        color = f"C{k}"
        axes.scatter(sizes, times, s=20, marker=_MARKS[k % len(_MARKS)], color=color, label=label)
        by_size = {n: [t for m, t in zip(sizes, times, strict=True) if m == n] for n in sizes}
        medians = [sorted(some)[len(some) // 2] for some in by_size.values()]
        axes.plot(list(by_size), medians, color=color, linewidth=1, alpha=0.6)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.set_xlabel("servers of 8 GPUs")
    axes.set_ylabel("processor seconds")
    axes.grid(alpha=0.3)
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)
    _save(figure, path)


def _save(figure: plt.Figure, path: Path) -> None:
    figure.savefig(path, dpi=110, metadata={"Software": None})
    plt.close(figure)
