"""Event traces for the extracted allocator: random ones, and what a small model answers.

A trace is a list of lines in the format that `proofs/oracle.ml` reads; an answer is the line
with the outcome, every free list and the slack behind " => ". Three programs answer: the oracle
extracted from the proofs, `hived_cells`, and the model here, in which faults can be planted.
"""

import random
from collections import Counter
from pathlib import Path

PROOFS = Path(__file__).resolve().parents[2] / "proofs"
FAULTS = (
    "never merges",
    "merges one level only",
    "merges when one buddy is free",
    "loses a buddy in a split",
    "quota off by one",
    "splits the highest level",
    "takes the highest address",
    "merges only even cells",
    "splits although a cell is free",
)


def random_trace(seed: int, events: int = 80) -> list[str]:
    """Return a trace that fills and drains, in waves, a random pool reserved nearly in full."""
    rng = random.Random(seed)
    factors = [rng.randint(2, 3) for _ in range(rng.randint(2, 4))]
    while _product(factors) > 36:
        factors.pop()
    top_cells = rng.randint(1, 3)
    tenants = rng.randint(1, 4)
    quota: Counter[tuple[int, int]] = Counter()

    def reserve(level: int) -> None:
        if rng.random() < 0.01:
            return  # nobody reserves this one
        if level > 1 and rng.random() < 0.65:
            for _ in range(factors[len(factors) + 1 - level]):
                reserve(level - 1)
        else:
            quota[rng.randrange(tenants), level] += 1

    for _ in range(top_cells):
        reserve(len(factors) + 1)
    lines = [" ".join(map(str, ["chain", top_cells, *factors]))]
    lines += [f"reserve {t} {k} {n}" for (t, k), n in sorted(quota.items())]
    held: dict[str, tuple[int, int]] = {}
    holds: Counter[tuple[int, int]] = Counter()
    for number in range(events):
        filling = number % 40 < 28
        legal = [key for key in sorted(quota) if holds[key] < quota[key]]
        exhausted = [key for key in sorted(quota) if holds[key] == quota[key]]
        chance = rng.random()
        if chance < 0.06:
            tenant, level = rng.randrange(tenants + 1), rng.randint(1, len(factors) + 2)
        elif exhausted and chance < 0.16:
            tenant, level = rng.choice(exhausted)
        elif legal and (not held or chance < (0.92 if filling else 0.15)):
            tenant, level = rng.choice(legal)
        elif held and chance < 0.98:
            name = rng.choice(sorted(held))
            holds[held.pop(name)] -= 1
            lines.append(f"release {name}")
            continue
        else:
            lines.append("release nobody")
            continue
        lines.append(f"allocate c{number} {tenant} {level}")
        if holds[tenant, level] < quota[tenant, level]:
            holds[tenant, level] += 1
            held[f"c{number}"] = (tenant, level)
    return lines


def questions(text: str) -> list[str]:
    """Return the lines of a trace without answers and comments."""
    return [
        line.split(" => ")[0]
        for line in text.splitlines()
        if line.strip() and not line.startswith("#")
    ]


def split_traces(lines: list[str]) -> list[list[str]]:
    """Cut a file of several traces at its `chain` lines."""
    traces: list[list[str]] = []
    for line in lines:
        if line.startswith("chain "):
            traces.append([])
        traces[-1].append(line)
    return traces


Free = list[set[int]]


class Model:
    """Buddy allocation on sets, written apart from `hived_cells` and from the proofs."""

    def __init__(self, top_cells: int, factors: list[int], fault: str | None) -> None:
        self.factors = [0, 0, *reversed(factors)]  # by level; a level-k cell has factors[k] parts
        self.top = len(factors) + 1
        self.free: Free = [set() for _ in range(self.top + 1)]
        self.free[self.top] = set(range(top_cells))
        self.quota: Counter[tuple[int, int]] = Counter()
        self.held: dict[str, tuple[int, int, int]] = {}
        self.fault = fault

    def allocate(self, name: str, tenant: int, level: int) -> str:
        """Answer an allocate event."""
        has = sum(1 for t, k, _ in self.held.values() if (t, k) == (tenant, level))
        spare = 1 if self.fault == "quota off by one" else 0
        if level > self.top or has >= self.quota[tenant, level] + spare * (has > 0):
            return "refused"
        levels = [k for k in range(level, self.top + 1) if self.free[k]]
        if not levels:
            return "no room"
        at = levels[0]
        if self.fault == "splits the highest level":
            at = levels[-1]
        if self.fault == "splits although a cell is free" and at == level and len(levels) > 1:
            at = levels[1]
        pick = max if self.fault == "takes the highest address" else min
        index = pick(self.free[at])
        self.free[at].remove(index)
        for k in range(at, level, -1):
            parts = {index * self.factors[k] + n for n in range(self.factors[k])}
            index = pick(parts)
            parts.remove(index)
            if self.fault == "loses a buddy in a split":
                parts.remove(max(parts))
            self.free[k - 1] |= parts
        self.held[name] = (tenant, level, index)
        return f"granted {index}"

    def release(self, name: str) -> str:
        """Answer a release event."""
        if name not in self.held:
            return "refused"
        _, level, index = self.held.pop(name)
        merged = 0
        while level < self.top and self.fault != "never merges":
            first = index - index % self.factors[level + 1]
            buddies = set(range(first, first + self.factors[level + 1])) - {index}
            together = buddies <= self.free[level]
            if self.fault == "merges when one buddy is free":
                together = bool(buddies & self.free[level])
            if self.fault == "merges one level only" and merged:
                together = False
            if self.fault == "merges only even cells" and index % 2:
                together = False
            if not together:
                break
            self.free[level] -= buddies
            index, level, merged = index // self.factors[level + 1], level + 1, merged + 1
        self.free[level].add(index)
        return "released"

    def slack(self) -> list[int]:
        """Return S_1, ..., S_n."""
        found, above = [], 0
        for k in range(self.top, 0, -1):
            reserved = sum(n for (_, level), n in self.quota.items() if level == k)
            allocated = sum(1 for _, level, _ in self.held.values() if level == k)
            above = len(self.free[k]) + above - (reserved - allocated)
            found.append(above)
            above *= self.factors[k]
        return found[::-1]


def picture(free: list[list[int]], slack: list[int]) -> str:
    """Write free lists (from level 1) and slack as the oracle does."""
    lists = "".join(
        f" | {k}:" + "".join(f" {i}" for i in cells) for k, cells in enumerate(free, start=1)
    )
    return lists + " | slack" + "".join(f" {s}" for s in slack)


def model_answers(trace: list[str], fault: str | None = None) -> list[str]:
    """Return what the model says to one trace; a model in trouble says so and stops."""
    model: Model | None = None
    answers = []
    for line in trace:
        word, *rest = line.split()
        if word == "chain":
            top_cells, *factors = map(int, rest)
            model = Model(top_cells, factors, fault)
            answers.append(line)
            continue
        assert model is not None
        if word == "reserve":
            tenant, level, number = map(int, rest)
            model.quota[tenant, level] += number
            answers.append(line)
            continue
        try:
            if word == "allocate":
                outcome = model.allocate(rest[0], int(rest[1]), int(rest[2]))
            else:
                outcome = model.release(rest[0])
        except (KeyError, ValueError):
            return [*answers, f"{line} => trouble"]
        free = [sorted(cells) for cells in model.free[1:]]
        answers.append(f"{line} => {outcome}{picture(free, model.slack())}")
    return answers


def _product(numbers: list[int]) -> int:
    result = 1
    for number in numbers:
        result *= number
    return result
