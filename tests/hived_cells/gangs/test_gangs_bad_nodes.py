"""Gangs on pools with bad GPUs and on chosen nodes: all choices of cells are tried."""

from itertools import combinations, product

import pytest
from gang_builders import gang_states, one_pool, packs, racks
from hypothesis import given
from hypothesis import strategies as st

from hived_cells import (
    Bindings,
    Cell,
    Chain,
    Gang,
    GangState,
    IllegalRequest,
    InvalidSpec,
    MustWait,
    NoRoom,
    Outlook,
    Pin,
    bad_gpus,
    bound_cells,
    gang_violations,
    mark_bad,
    outlook,
    place_gang,
    recover,
)
from hived_cells.gangs import search as search_module


def with_bad(state: GangState, cells) -> GangState:
    """Return the state of a cluster without gangs in which cells of its one pool are bad."""
    (book,) = state.books.values()
    cellular = book.state
    for cell in cells:
        cellular = mark_bad(cellular, cell)
    return GangState({book.name: book._replace(state=cellular)}, {})


def fits_somehow(state: GangState, gang: Gang) -> bool:
    """Try every set of cells that the tenant could hold in addition, by recovery."""
    (book,) = state.books.values()
    cells, chain = book.state, book.state.chain
    held = list(bound_cells(cells))
    used = {gpu for one in state.gangs.values() for gpu in one.gpus}
    bad = {chain.index(gpu) for gpu in bad_gpus(cells)}
    rights = dict(dict(cells.reservation.cells).get(gang.tenant, ()))
    for owner, cell in held:
        if owner == gang.tenant:
            rights[cell.level] -= 1
    sizes = [size for size, count in gang.pods for _ in range(count)]
    ways = [
        [few for n in range(number + 1) for few in combinations(list(chain.cells(level)), n)]
        for level, number in rights.items()
    ]
    for choice in product(*ways):
        more = [(gang.tenant, cell) for few in choice for cell in few]
        gpus = [gpu for _, cell in held + more for gpu in span(chain, cell)]
        if len(gpus) != len(set(gpus)):
            continue
        if recover(cells.pool, Bindings(held + more)).downgraded:
            continue
        room = []
        for owner, cell in held + more:
            if owner == gang.tenant:
                whole = span(chain, cell)
                width = chain.sizes[min(cell.level, book.node_level)]
                room += [
                    len(set(range(start, start + width)) - used - bad)
                    for start in range(whole.start, whole.stop, width)
                ]
        if packs(room, sizes):
            return True
    return False


def span(chain, cell):
    size = chain.sizes[cell.level]
    return range(chain.index(cell) * size, (chain.index(cell) + 1) * size)


@given(data=st.data())
def test_a_placement_beside_bad_gpus_is_found_iff_there_is_one(data):
    """Tests against every set of cells that can be bound, with two gangs one after the other."""
    state = data.draw(gang_states(max_gpus=8) | racks())
    (book,) = state.books.values()
    chain = book.state.chain
    gpus = data.draw(st.sets(st.integers(0, chain.gpus - 1), max_size=chain.gpus // 2))
    state = with_bad(state, [chain.cell(1, gpu) for gpu in gpus])
    for number in range(2):
        pods = data.draw(
            st.lists(st.tuples(st.integers(1, 3), st.integers(1, 2)), min_size=1, max_size=2)
        )
        gang = Gang(f"g{number}", data.draw(st.sampled_from("AB")), tuple(pods))
        try:
            later, placed = place_gang(state, gang)
        except (NoRoom, IllegalRequest):
            assert not fits_somehow(state, gang)
            continue
        assert fits_somehow(state, gang)
        assert gpus.isdisjoint(gpu for pod in placed.pods for gpu in pod)
        assert gang_violations(later) == ()
        state = later


@given(data=st.data())
def test_chosen_nodes_are_kept_to_and_nothing_else_changes(data):
    """Tests that the gang runs there and that the same bad GPUs are bad afterwards."""
    state = data.draw(gang_states(max_gpus=12))
    (book,) = state.books.values()
    chain, level = book.state.chain, book.node_level
    gpus = data.draw(st.sets(st.integers(0, chain.gpus - 1), max_size=2))
    state = with_bad(state, [chain.cell(1, gpu) for gpu in gpus])
    nodes = data.draw(st.sets(st.integers(0, chain.counts[level] - 1)))
    gang = Gang("g", "A", ((1, 2),), data.draw(st.sampled_from([-1, 0])))
    try:
        later, placed = place_gang(
            state, gang, nodes={book.name: [chain.cell(level, n) for n in nodes]}
        )
    except (NoRoom, IllegalRequest):
        return
    assert {gpu // chain.sizes[level] for pod in placed.pods for gpu in pod} <= nodes
    assert bad_gpus(later.cells(book.name)) == bad_gpus(state.cells(book.name))
    assert gang_violations(later) == ()


def test_the_usual_choice_of_cell_has_no_room_and_another_has():
    """Tests two nodes with two bad GPUs each: a pair is left in the second one only."""
    state = one_pool(Chain(2, (2, 2)), 3, A={3: 1})
    state = with_bad(state, [Cell(1, (0, 0, 0)), Cell(1, (0, 1, 0)), Cell(2, (1, 0))])
    assert place_gang(state, Gang("g", "A", ((1, 1),)))[1].pods == ((1,),)
    _, placed = place_gang(state, Gang("g", "A", ((2, 1),), within=2))
    assert placed.pods == ((6, 7),)
    assert placed.exact


def test_a_cell_that_was_bound_in_vain_is_given_back():
    """Tests that the first node, bound and without a whole pair, is free again."""
    state = one_pool(Chain(2, (2, 2)), 3, A={3: 2})
    state = with_bad(state, [Cell(1, (0, 0, 0)), Cell(1, (0, 1, 0)), Cell(2, (1, 0))])
    later, placed = place_gang(state, Gang("g", "A", ((2, 1),), within=2))
    assert placed.pods == ((6, 7),)
    assert placed.bound == (Cell(3, (1,)),)
    assert [cell for _, cell in bound_cells(later.cells("P"))] == [Cell(3, (1,))]


def test_a_search_that_hits_its_limit_says_so(monkeypatch):
    """Tests that "must wait" is then said not to be proved."""
    state = one_pool(Chain(3, (2, 2)), 3, A={3: 2})
    bad = [Cell(1, (node, pair, 0)) for node in range(3) for pair in range(2)]
    state = with_bad(state, bad)
    for limit, exact in ((1, False), (300, True)):
        monkeypatch.setattr(search_module, "MAX_BINDINGS", limit)
        with pytest.raises(MustWait) as caught:
            place_gang(state, Gang("g", "A", ((2, 1),), within=2))
        assert caught.value.exact is exact


def test_a_pin_with_bad_gpus_has_one_choice():
    """Tests that the healthy part of a pin serves, and that more than it waits."""
    pins = [Pin("lab", "A", Cell(3, (0,)))]
    state = with_bad(one_pool(Chain(2, (2, 2)), 3, pins=pins, A={}), [Cell(1, (0, 0, 0))])
    later, placed = place_gang(state, Gang("g", "A", ((3, 1),), pinned="lab"))
    assert placed.pods == ((1, 2, 3),)
    assert gang_violations(later) == ()
    with pytest.raises(MustWait):
        place_gang(state, Gang("g", "A", ((4, 1),), pinned="lab"))


def test_the_outlook_beside_bad_gpus_is_that_of_placing():
    """Tests now, wait and never."""
    state = with_bad(one_pool(Chain(1, (2, 2)), 3, A={3: 1}), [Cell(1, (0, 0, 0))])
    for gpus, expected in ((3, Outlook.NOW), (4, Outlook.WAIT), (5, Outlook.NEVER)):
        assert outlook(state, Gang("g", "A", ((gpus, 1),))) is expected


def test_only_nodes_can_be_chosen():
    """Tests that a cell of another level is refused."""
    state = one_pool(Chain(2, (2, 2)), 3, A={3: 1})
    with pytest.raises(InvalidSpec, match="of pool 'P' is no node"):
        place_gang(state, Gang("g", "A", ((1, 1),)), nodes={"P": [Cell(2, (0, 0))]})
    with pytest.raises(InvalidSpec, match="no mapping from pools to nodes"):
        place_gang(state, Gang("g", "A", ((1, 1),)), nodes=[Cell(3, (0,))])
