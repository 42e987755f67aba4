"""What `hived_cells` answers to an event trace, in the oracle's format."""

from proof_traces import picture

from hived_cells import (
    HIVED,
    Chain,
    HivedError,
    IllegalRequest,
    Reservation,
    State,
    allocate,
    free_cells,
    initial_state,
    lowest_address,
    release,
    slack,
    violations,
)


def hived_answers(trace: list[str], *, default: bool = False) -> list[str]:
    """Replay one trace; a broken invariant or an unexpected refusal shows in the answer.

    Cells are chosen by the lowest address or, as `default` asks, as `allocate` does unasked: the
    same where no cell is bad and none has low-priority jobs.
    """
    choose = HIVED if default else lowest_address
    top_cells, *factors = map(int, trace[0].split()[1:])
    chain = Chain(top_cells=top_cells, factors=tuple(factors))
    reserved: dict[str, dict[int, int]] = {}
    events = []
    for line in trace[1:]:
        word, *rest = line.split()
        if word == "reserve":
            tenant, level, number = rest
            levels = reserved.setdefault(tenant, {})
            levels[int(level)] = levels.get(int(level), 0) + int(number)
        else:
            events.append((line, word, rest))
    state = initial_state(chain, Reservation(reserved))
    held = {}
    answers = trace[: len(trace) - len(events)]
    for line, word, rest in events:
        try:
            if word == "allocate":
                name, tenant, level = rest
                state, cell = allocate(state, tenant, int(level), choose=choose)
                held[name] = (tenant, cell)
                outcome = f"granted {chain.index(cell)}"
            elif rest[0] in held:
                tenant, cell = held.pop(rest[0])
                state = release(state, tenant, cell)
                outcome = "released"
            else:
                outcome = "refused"
        except IllegalRequest:
            outcome = "refused"
        except HivedError as error:
            outcome = f"failed: {error}"
        answers.append(f"{line} => {outcome}{_picture(state)}")
    answers += [f"broken: {violation}" for violation in violations(state)]
    return answers


def _picture(state: State) -> str:
    chain = state.chain
    free = [[chain.index(c) for c in free_cells(state, k)] for k in range(1, chain.levels + 1)]
    return picture(free, list(slack(state)))
