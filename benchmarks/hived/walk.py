"""Random operations on random pools: takes a seed, gives counts of what was done.

Every operation is legal or known to be illegal beforehand; whatever contradicts that raises.
"""

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from hived_cells import (
    HIVED,
    Candidates,
    Cell,
    Chain,
    Choose,
    IllegalRequest,
    Job,
    NoRoom,
    Pin,
    Reservation,
    State,
    allocate,
    allocate_pin,
    bindings_of,
    bound_cells,
    fewest_low_priority,
    free_counts,
    heal,
    healthy_first,
    initial_state,
    is_feasible,
    jobs,
    lowest_address,
    mark_bad,
    recover,
    release,
    slack,
    start,
    stop,
    victims,
    violations,
)


@dataclass
class Walk:
    """A walk in progress: the state, the numbers drawn and what was done."""

    state: State
    rng: random.Random
    done: Counter[str] = field(default_factory=Counter)


def random_chain(rng: random.Random, *, max_gpus: int = 96) -> Chain:
    """Return a small chain, factors 1 and 3 included."""
    while True:
        factors = tuple(rng.choice((1, 2, 2, 2, 3, 4)) for _ in range(rng.randint(0, 4)))
        chain = Chain(rng.randint(1, 6), factors)
        if chain.gpus <= max_gpus:
            return chain


def random_reservation(rng: random.Random, chain: Chain) -> Reservation:
    """Return a feasible reservation, grown cell by cell, often until nothing more fits."""
    cells: dict[str, dict[int, int]] = {tenant: {} for tenant in "ABC"[: rng.randint(1, 3)]}
    pins: list[Pin] = []
    for _ in range(rng.randint(0, 2)):
        level = rng.randint(1, chain.levels)
        cell = chain.cell(level, rng.randrange(chain.counts[level]))
        pins.append(Pin(f"pin{len(pins)}", rng.choice(list(cells)), cell))
    if any(_overlap(a.cell, b.cell) for a in pins for b in pins if a is not b):
        pins = pins[:1]
    for _ in range(rng.randint(0, 3 * chain.gpus)):
        tenant, level = rng.choice(list(cells)), rng.randint(1, chain.levels)
        grown = {**cells, tenant: {**cells[tenant], level: cells[tenant].get(level, 0) + 1}}
        if is_feasible(chain, Reservation(grown, pins=pins)):
            cells = grown
    return Reservation(cells, pins=pins)


def _overlap(a: Cell, b: Cell) -> bool:
    short = min(len(a.path), len(b.path))
    return a.path[:short] == b.path[:short]


def random_choice(rng: random.Random) -> Choose:
    """Return a built-in choice, or one that takes any candidate, detours included."""

    def anything(candidates: Candidates) -> Cell:
        higher = candidates.detour()
        if higher is not None and rng.random() < 0.3:
            return anything(higher)
        return rng.choice([candidate.cell for candidate in candidates])

    return rng.choice((HIVED, lowest_address, fewest_low_priority, healthy_first, anything))


def new_walk(seed: int, *, max_gpus: int = 96) -> Walk:
    """Return a walk on a random pool with nothing held."""
    rng = random.Random(seed)
    chain = random_chain(rng, max_gpus=max_gpus)
    return Walk(initial_state(chain, random_reservation(rng, chain)), rng)


def step(walk: Walk) -> None:
    """Do one random operation and check what it promises."""
    operation = walk.rng.choices(
        (_allocate, _release, _start, _stop, _fault, _heal, _recover, _illegal, _pin),
        weights=(30, 24, 12, 8, 6, 7, 1, 2, 2),
    )[0]
    before = walk.state
    walk.done[operation.__name__.strip("_")] += operation(walk)
    if min(slack(walk.state)) < 0:
        raise AssertionError(f"slack {slack(walk.state)} after {operation.__name__} on {before}")


def _rights(state: State) -> Iterator[tuple[str, int]]:
    for number, tenant in enumerate(state.reservation.tenants):
        pairs = zip(state.pool.reserved[number], state.held[number], strict=True)
        for level, (reserved, held) in enumerate(pairs):
            if held < reserved:
                yield tenant, level


def _allocate(walk: Walk) -> int:
    rights = list(_rights(walk.state))
    if not rights:
        return 0
    before = walk.state
    tenant, level = walk.rng.choice(rights)
    walk.state, cell = allocate(before, tenant, level, choose=random_choice(walk.rng))
    if cell.level != level:
        raise AssertionError(f"asked for level {level}, got {cell}")
    if set(jobs(before)) - set(jobs(walk.state)) != set(victims(before, cell)):
        raise AssertionError(f"the victims of {cell} are not the jobs that ended")
    return 1


def _pin(walk: Walk) -> int:
    unused = [
        pin
        for number, pin in enumerate(walk.state.reservation.pins)
        if not walk.state.pins_in_use >> number & 1
    ]
    if not unused:
        return 0
    pin = walk.rng.choice(unused)
    walk.state, _ = allocate_pin(walk.state, pin.tenant, pin.name)
    return 1


def _release(walk: Walk) -> int:
    held = list(bound_cells(walk.state))
    if not held:
        return 0
    walk.state = release(walk.state, *walk.rng.choice(held))
    return 1


def _start(walk: Walk) -> int:
    wanted = walk.rng.randint(1, 5)
    try:
        walk.state, job = start(walk.state, walk.rng.choice("ABCD"), wanted)
    except NoRoom:
        return 0
    if len(job.gpus) != wanted:
        raise AssertionError(f"asked for {wanted} GPUs, got {job}")
    return 1


def _stop(walk: Walk) -> int:
    running: tuple[Job, ...] = jobs(walk.state)
    if not running:
        return 0
    walk.state = stop(walk.state, walk.rng.choice(running))
    return 1


def _any_cell(walk: Walk) -> Cell:
    chain = walk.state.chain
    level = walk.rng.randint(1, chain.levels)
    return chain.cell(level, walk.rng.randrange(chain.counts[level]))


def _fault(walk: Walk) -> int:
    counts = free_counts(walk.state)
    walk.state = mark_bad(walk.state, _any_cell(walk))
    if free_counts(walk.state) != counts:
        raise AssertionError("a fault changed the free lists")
    return 1


def _heal(walk: Walk) -> int:
    walk.state = heal(walk.state, _any_cell(walk))
    return 1


def _recover(walk: Walk) -> int:
    again = recover(walk.state.pool, bindings_of(walk.state))
    if again.state != walk.state or again.downgraded or again.ignored:
        raise AssertionError(f"recovery of {walk.state} gave {again}")
    walk.state = again.state
    return 1


def _illegal(walk: Walk) -> int:
    state = walk.state
    level = walk.rng.randint(1, state.chain.levels)
    if ("A", level) in set(_rights(state)):
        return 0
    try:
        allocate(state, "A", level)
    except IllegalRequest:
        return 1
    raise AssertionError(f"an illegal request was granted: {level} on {state}")


def check(walk: Walk) -> None:
    """Raise `AssertionError` where the walk's state breaks a rule."""
    if found := violations(walk.state):
        raise AssertionError(f"{found[0]} in {walk.state}")
