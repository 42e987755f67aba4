"""Tables of facts: gaps, times, claims, outcomes, growth.

Takes facts and gives `Table` values. Times of methods are compared only on the runs (instance,
seed, limit) that all of them have, problem by problem.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence

from benchmarks.metrics import (
    bootstrap_interval,
    growth_exponent,
    performance_profile,
    shifted_geometric_mean,
)
from benchmarks.problems import PROBLEMS
from benchmarks.report.facts import Fact
from benchmarks.report.tables import Table

_GAPS = (
    "(bound − throughput) / throughput to the best certified upper bound of the problem that the "
    "method is measured against; mean over its certified answers, with the 95 % bootstrap "
    "interval over instances. Unfair: jobs left out or below their fair share, as GREEDY "
    "may; such answers solve an easier problem and have no gap."
)
_TIMES = (
    "Exact methods on the runs that all of the same problem have. Solved: said “optimal” and no "
    "certified answer is better. Mean: shifted geometric, shift 10 s, of processor time; unsolved "
    "runs count at the time limit."
)
_CLAIMS = (
    "What became of the word “optimal”: certified (the answer meets a certified bound), refuted "
    "(a certified answer is better, or the answer breaks a rule), open (neither). A claimed upper "
    "bound is too low where a certified answer is above it; by how much, relative: about 1e-16 is "
    "a float's own rounding."
)
_GROWTH = (
    "t ≈ c · serversᵃ, by least squares over the logarithms of processor time, on the paper's "
    "mixes; runs that ended by themselves; 95 % bootstrap interval of a."
)


def tables(facts: Sequence[Fact]) -> list[Table]:
    """Give the tables that a page of results shows."""
    return [gap_table(facts), time_table(facts), claim_table(facts), growth_table(facts)]


def _by(
    facts: Iterable[Fact], key: Callable[[Fact], tuple[str, ...]]
) -> dict[tuple[str, ...], list[Fact]]:
    found: dict[tuple[str, ...], list[Fact]] = defaultdict(list)
    for fact in facts:
        found[key(fact)].append(fact)
    return found


def gap_table(facts: Sequence[Fact]) -> Table:
    """Give the mean gap by problem and method, on the instances that every method has."""
    by_method = _by(facts, lambda f: (f.problem, f.method))
    shared = set.intersection(*({f.instance for f in some} for some in by_method.values()))
    rows = tuple(
        (f"{problem}: {method}", *_gaps([f for f in some if f.instance in shared]))
        for (problem, method), some in sorted(by_method.items(), key=_in_order)
    )
    note = f"On the {len(shared)} instances that every method has. {_GAPS}"
    return Table(key="gaps", title="Gaps", note=note, columns=("method", *_COLUMNS), rows=rows)


def family_table(facts: Sequence[Fact]) -> Table:
    """Give the mean gap by problem, method and family, on whatever each method has."""
    groups = _by(facts, lambda f: (f.problem, f.method, f.family))
    rows = tuple(
        (f"{problem}: {method}", family, *_gaps(some))
        for (problem, method, family), some in sorted(groups.items(), key=_in_order)
    )
    columns = ("method", "family", *_COLUMNS)
    title = "Gaps by family"
    return Table(key="families", title=title, note=_GAPS, columns=columns, rows=rows)


_COLUMNS = ("runs", "certified", "mean gap", "95 %", "worst", "others")


def _gaps(some: Sequence[Fact]) -> tuple[str, ...]:
    gaps = [float(fact.gap) for fact in some if fact.gap is not None]
    counts = Counter(fact.outcome for fact in some)
    others = ", ".join(f"{n} {k}" for k, n in sorted(counts.items()) if k != "certified")
    interval = bootstrap_interval(gaps)
    return (
        str(len(some)),
        str(counts["certified"]),
        _percent(sum(gaps) / len(gaps)) if gaps else "–",
        f"{_percent(interval[0])} to {_percent(interval[1])}" if interval else "–",
        _percent(max(gaps)) if gaps else "–",
        others or "–",
    )


def _in_order(item: tuple[tuple[str, ...], list[Fact]]) -> tuple[int, tuple[str, ...]]:
    problem, *rest = item[0]
    return [str(p) for p in PROBLEMS].index(problem), tuple(rest)


def common(facts: Sequence[Fact], problem: str) -> dict[str, list[Fact]]:
    """Give the exact methods' runs of a problem that all of them have, in the same order."""
    runs = {
        method: {(f.instance, f.seed, f.limit): f for f in some}
        for (method,), some in _by(
            (f for f in facts if f.exact and f.problem == problem), lambda f: (f.method,)
        ).items()
    }
    if not runs:
        return {}
    shared = sorted(set.intersection(*(set(some) for some in runs.values())))
    return {method: [some[key] for key in shared] for method, some in sorted(runs.items())}


def time_table(facts: Sequence[Fact]) -> Table:
    """Give solved counts and mean times, problem by problem."""
    rows = []
    for problem in PROBLEMS:
        for method, some in common(facts, problem).items():
            if not some:
                continue
            certified = sum(f.claim == "certified" for f in some)
            rows.append(
                (
                    f"{problem}: {method}",
                    str(len(some)),
                    str(sum(f.solved for f in some)),
                    str(certified),
                    f"{shifted_geometric_mean([f.time for f in some]):.3f}",
                    f"{max(f.time for f in some):.2f}",
                )
            )
    columns = ("method", "runs", "solved", "of these certified", "mean s", "longest s")
    return Table(key="times", title="Times", note=_TIMES, columns=columns, rows=tuple(rows))


def claim_table(facts: Sequence[Fact]) -> Table:
    """Give what became of claims."""
    rows = []
    for (problem, method), some in sorted(
        _by(facts, lambda f: (f.problem, f.method)).items(), key=_in_order
    ):
        claims = Counter(fact.claim for fact in some)
        said = sum(claims.values()) - claims[""]
        low = [fact.below for fact in some if fact.below is not None]
        short = [fact.short for fact in some if fact.short is not None]
        if not said and not any(fact.claimed is not None for fact in some):
            continue
        rows.append(
            (
                f"{problem}: {method}",
                str(len(some)),
                str(said),
                str(claims["certified"]),
                str(claims["refuted"]),
                str(claims["open"]),
                f"{float(max(short)):.1e}" if short else "–",
                str(len(low)),
                f"{float(max(low)):.1e}" if low else "–",
            )
        )
    columns = (
        "method",
        "runs",
        "said optimal",
        "certified",
        "refuted",
        "open",
        "refuted by",
        "bounds too low",
        "by",
    )
    return Table(
        key="claims", title="Claims that hold", note=_CLAIMS, columns=columns, rows=tuple(rows)
    )


def growth(facts: Sequence[Fact]) -> dict[str, tuple[list[int], list[float]]]:
    """Give sizes and times of the mixes by method, of runs that ended by themselves."""
    found: dict[str, tuple[list[int], list[float]]] = {}
    for (method,), some in sorted(_by(facts, lambda f: (f.method,)).items()):
        ended = [
            f for f in some if f.family == "mix" and f.seconds is not None and f.seconds < f.limit
        ]
        if len({f.servers for f in ended}) >= 3:
            pairs = sorted((f.servers, f.seconds or 0.0) for f in ended)
            found[method] = [n for n, _ in pairs], [t for _, t in pairs]
    return found


def growth_table(facts: Sequence[Fact]) -> Table:
    """Give the fitted exponents."""
    rows = []
    for method, (sizes, times) in growth(facts).items():
        fitted = growth_exponent(sizes, times)
        if fitted is None:
            continue
        slope, (low, high) = fitted
        span = f"{min(sizes)} to {max(sizes)}"
        rows.append((method, str(len(sizes)), span, f"{slope:.2f}", f"{low:.2f} to {high:.2f}"))
    columns = ("method", "runs", "servers", "a", "95 %")
    return Table(key="growth", title="Growth", note=_GROWTH, columns=columns, rows=tuple(rows))


def profile_of(
    facts: Sequence[Fact], problem: str
) -> tuple[list[float], dict[str, list[float]]] | None:
    """Give τ and the performance profile of a problem's exact methods; None without two."""
    shared = common(facts, problem)
    if len(shared) < 2 or not any(some for some in shared.values()):
        return None
    times = {
        method: [max(f.time, 1e-3) if f.solved else float("inf") for f in some]
        for method, some in shared.items()
    }
    tau, parts = performance_profile(times)
    return tau.tolist(), {method: part.tolist() for method, part in parts.items()}


def _percent(part: float) -> str:
    return f"{100 * part:.2f} %"
