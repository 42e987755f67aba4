"""Several pools side by side: takes a state for each pool's name, gives one frozen mapping.

A guarantee holds inside a pool, so every operation works on one pool's state; the cluster only
keeps them together.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from hived_cells.errors import Infeasible, InvalidSpec, shown
from hived_cells.reservation import Pool
from hived_cells.state import State, initial_state

__all__ = ["Cluster", "initial_cluster"]


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Cluster:
    """A frozen mapping from pool name to state.

    Parameters
    ----------
    states
        Pool name → state.

    Raises
    ------
    InvalidSpec
        A name is not a string, or what it stands for is no state.

    Examples
    --------
    >>> from hived_cells import Chain, Reservation, allocate
    >>> cluster = initial_cluster({
    ...     "V100": Pool(Chain(2, (8,)), Reservation({"A": {1: 3}})),
    ...     "K80": Pool(Chain(4, (4,)), Reservation({"B": {2: 3}})),
    ... })
    >>> state, cell = allocate(cluster["V100"], "A", 1)
    >>> cluster.replace("V100", state)["V100"] == state, list(cluster)
    (True, ['K80', 'V100'])
    """

    entries: tuple[tuple[str, State], ...]

    def __init__(self, states: Mapping[str, State]) -> None:
        if not isinstance(states, Mapping):
            raise InvalidSpec(f"cluster: {shown(states)} is no mapping from names to states")
        for name, state in states.items():
            if not isinstance(name, str):
                raise InvalidSpec(f"pool {shown(name)}: pools are named by strings")
            if not isinstance(state, State):
                raise InvalidSpec(f"pool {name!r}: {shown(state)} is no State")
        object.__setattr__(self, "entries", tuple(sorted(states.items(), key=lambda e: e[0])))

    def __getitem__(self, name: str) -> State:
        for known, state in self.entries:
            if known == name:
                return state
        raise InvalidSpec(f"pool {name!r} is not one of {list(self)}")

    def __iter__(self) -> Iterator[str]:
        return (name for name, _ in self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def __repr__(self) -> str:
        return f"Cluster({dict(self.entries)!r})"

    def replace(self, name: str, state: State) -> "Cluster":
        """Return the cluster with one pool's state replaced.

        Raises
        ------
        InvalidSpec
            There is no such pool.

        Examples
        --------
        >>> from hived_cells import Chain, Reservation
        >>> cluster = initial_cluster({"": Pool(Chain(1, ()), Reservation({}))})
        >>> cluster.replace("", cluster[""]) == cluster
        True
        """
        self[name]  # refuse an unknown pool
        return Cluster({**dict(self.entries), name: state})


def initial_cluster(pools: Mapping[str, Pool]) -> Cluster:
    """Return the cluster in which nothing is held, pool by pool.

    Raises
    ------
    Infeasible
        A pool's reserved cells do not fit; the message names the pool.

    Examples
    --------
    >>> from hived_cells import Chain, Reservation
    >>> len(initial_cluster({"V100": Pool(Chain(2, (8,)), Reservation({}))}))
    1
    """
    states = {}
    for name, pool in pools.items():
        if not isinstance(pool, Pool):
            raise InvalidSpec(f"pool {name!r}: {shown(pool)} is no Pool")
        try:
            states[name] = initial_state(pool.chain, pool.reservation)
        except Infeasible as error:
            raise Infeasible(
                f"pool {name!r}: {error}",
                level=error.level,
                needed=error.needed,
                available=error.available,
            ) from None
    return Cluster(states)
