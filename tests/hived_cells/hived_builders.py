"""Small pools and shortcuts that several test modules use."""

from dataclasses import replace
from itertools import product

from hived_cells import Cell, Chain, Reservation, State, initial_state


def npq(tops: int) -> Chain:
    """Return tops of two P of two N of one GPU: levels GPU, N, P, Q (a factor of 1 included)."""
    return Chain(tops, (2, 2, 1))


def rack(tops: int) -> Chain:
    """Return tops of two nodes of two sockets of two switches of two GPUs."""
    return Chain(tops, (2, 2, 2, 2))


def at(state: State, path: str) -> Cell:
    """Return the cell with an address such as 0/1."""
    return state.chain.parse(path)


def start_with(chain: Chain, **cells: dict[int, int]) -> State:
    """Return the first state of a reservation given by tenant names."""
    return initial_state(chain, Reservation(cells))


def small_chains(gpus: int) -> list[Chain]:
    """Return every chain of at most that many GPUs without factors of 1, and some with."""
    found = []
    for levels in range(4):
        for factors in product(range(2, gpus + 1), repeat=levels):
            for tops in range(1, gpus + 1):
                size = tops
                for factor in factors:
                    size *= factor
                if size <= gpus:
                    found.append(Chain(tops, factors))
    return [*found, Chain(2, (1,)), Chain(2, (2, 1)), Chain(1, (1, 2, 1))]


def broken(state: State, **fields) -> State:
    """Return the state with fields overwritten, as no operation would."""
    return replace(state, **fields)
