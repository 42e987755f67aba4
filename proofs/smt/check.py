"""HiveD's per-operation conditions for any number of levels, by Z3 and by cvc5.

A second opinion on the arithmetic of Theorem 1 that needs no Coq: ``pip install z3-solver cvc5``,
then ``python proofs/smt/check.py``.

The levels are unbounded, so each condition speaks of one level ``j`` and what is known of the
level above; induction from the top level down (written beside each condition) joins them. ``f``
cells are free, ``o`` are owed, the cell above consists of ``h``, ``S`` is the slack of level j and
``U`` (up) of level j + 1; ``f2``, ``o2``, ``S2``, ``U2`` are the values after the operation. Below
the top, S = f - o + h U; at the top, S = f - o.
"""

import sys
from typing import NamedTuple

VARIABLES = ("f", "o", "S", "U", "f2", "o2", "S2", "U2", "h", "w", "A", "A2", "W", "g", "x")
SLACK = "(= S (+ (- f o) (* h U)))"
SLACK2 = "(= S2 (+ (- f2 o2) (* h U2)))"
ALWAYS = ("(>= h 1)", "(>= f 0)", "(>= f2 0)")


class Condition(NamedTuple):
    """What is to be shown: `given` implies `then`."""

    name: str
    given: tuple[str, ...]
    then: str


CONDITIONS = (
    # Taking a cell of level k by splitting level l > k, from the top down: levels above l do not
    # change; level l loses a cell; levels between gain the buddies and pass one on; level k gains
    # the buddies, gives one away and owes one less; levels below do not change.
    Condition(
        "take: level above the split",
        (SLACK, SLACK2, "(= U2 U)", "(= f2 f)", "(= o2 o)"),
        "(= S2 S)",
    ),
    Condition(
        "take: the level that is split",
        (SLACK, SLACK2, "(= U2 U)", "(= f2 (- f 1))", "(= o2 o)"),
        "(= S2 (- S 1))",
    ),
    Condition(
        "take: the level that is split is the top",
        ("(= S (- f o))", "(= S2 (- f2 o2))", "(= f2 (- f 1))", "(= o2 o)"),
        "(= S2 (- S 1))",
    ),
    Condition(
        "take: a level between",
        (SLACK, SLACK2, "(= U2 (- U 1))", "(= f2 (+ f (- h 1)))", "(= o2 o)"),
        "(= S2 (- S 1))",
    ),
    Condition(
        "take: the level that is served after a split",
        (SLACK, SLACK2, "(= U2 (- U 1))", "(= f2 (+ f (- h 1)))", "(= o2 (- o 1))"),
        "(= S2 S)",
    ),
    Condition(
        "take: the level that is served from its own free list",
        (SLACK, SLACK2, "(= U2 U)", "(= f2 (- f 1))", "(= o2 (- o 1))"),
        "(= S2 S)",
    ),
    # Release is the same backwards: merging up to level l raises the slack of the levels
    # k < j <= l by one and leaves all others.
    Condition(
        "release: without a merge",
        (SLACK, SLACK2, "(= U2 U)", "(= f2 (+ f 1))", "(= o2 (+ o 1))"),
        "(= S2 S)",
    ),
    Condition(
        "release: buddies taken off the list for a merge",
        (SLACK, SLACK2, "(= U2 (+ U 1))", "(= f2 (- f (- h 1)))", "(= o2 (+ o 1))"),
        "(= S2 S)",
    ),
    Condition(
        "release: a level between",
        (SLACK, SLACK2, "(= U2 (+ U 1))", "(= f2 (- f (- h 1)))", "(= o2 o)"),
        "(= S2 (+ S 1))",
    ),
    Condition(
        "release: the level that receives the merged cell",
        (SLACK, SLACK2, "(= U2 U)", "(= f2 (+ f 1))", "(= o2 o)"),
        "(= S2 (+ S 1))",
    ),
    # A legal request finds a cell, and the levels on the way up have slack: from k upward.
    Condition(
        "search: an owed cell and an empty list mean slack above",
        (SLACK, "(>= S 0)", "(>= o 1)", "(= f 0)"),
        "(>= U 1)",
    ),
    Condition(
        "search: slack and an empty list mean slack above",
        (SLACK, "(>= S 1)", "(>= o 0)", "(= f 0)"),
        "(>= U 1)",
    ),
    Condition(
        "search: slack at the top means a free cell",
        ("(= S (- f o))", "(>= (+ S o) 1)", "(>= o 0)"),
        "(>= f 1)",
    ),
    # The detour rule: a level that an operation crosses stays non-negative iff it had slack.
    Condition("detour: exactly S >= 1", ("(= S2 (- S 1))",), "(= (>= S2 0) (>= S 1))"),
    # Slack counts GPUs: w S = A, with A the GPUs free at levels >= j minus those owed there;
    # W = h w.
    Condition(
        "slack counts GPUs",
        (SLACK, "(= W (* h w))", "(= (* W U) A2)", "(= A (+ (* w (- f o)) A2))"),
        "(= (* w S) A)",
    ),
    # Exactness. If all owed cells lie disjointly in free cells, those of levels >= j take no more
    # GPUs than are free there, so the slack is not negative ...
    Condition(
        "slack is necessary",
        ("(>= w 1)", "(= (* w S) (- g x))", "(<= x g)"),
        "(>= S 0)",
    ),
    # ... and if it is not, serving the owed cells from what the level has leaves exactly S cells
    # to split for the level below.
    Condition(
        "slack is sufficient",
        (SLACK, "(>= U 0)", "(>= S 0)", "(= g (+ f (* h U)))", "(>= o 0)"),
        "(and (<= o g) (= (- g o) S))",
    ),
)

# What must not be provable, or the conditions would be too.
WRONG = (
    Condition("a split costs nothing", CONDITIONS[1].given, "(= S2 S)"),
    Condition(
        "a detour needs slack only at the level it splits",
        (
            SLACK,
            SLACK2,
            "(>= U 1)",
            "(>= S 0)",
            "(= U2 (- U 1))",
            "(= f2 (+ f (- h 1)))",
            "(= o2 o)",
        ),
        "(>= S2 0)",
    ),
    Condition(
        "a lost buddy does no harm",
        (SLACK, SLACK2, "(= U2 (- U 1))", "(= f2 (+ f (- h 2)))", "(= o2 (- o 1))", "(>= S 0)"),
        "(>= S2 0)",
    ),
    Condition(
        "no quota: what is not owed may be taken",
        (SLACK, SLACK2, "(= U2 U)", "(= f2 (- f 1))", "(= o2 o)", "(>= S 0)"),
        "(>= S2 0)",
    ),
    Condition(
        "F without what is owed above",
        ("(= S (+ (- f o) (* h (+ U o2))))", "(>= S 0)", "(>= o 1)", "(= f 0)", "(>= o2 0)"),
        "(>= U 1)",
    ),
    Condition(
        "a merge that leaves buddies on the list",
        (SLACK, SLACK2, "(= U2 (+ U 1))", "(= f2 (- f 1))", "(= o2 (+ o 1))"),
        "(= S2 S)",
    ),
)


def script(condition: Condition, *, negate: bool = True) -> str:
    """Return SMT-LIB text that is unsatisfiable if and only if the condition holds."""
    lines = ["(set-logic QF_NIA)"]
    lines += [f"(declare-const {name} Int)" for name in VARIABLES]
    lines += [f"(assert {fact})" for fact in (*ALWAYS, *condition.given)]
    if negate:
        lines.append(f"(assert (not {condition.then}))")
    return "\n".join(lines) + "\n"


def by_z3(text: str) -> str:
    """Ask Z3: ``sat``, ``unsat`` or ``unknown``."""
    import z3  # noqa: PLC0415  the solvers are optional

    solver = z3.Solver()
    solver.set("timeout", 20_000)
    solver.from_string(text)
    return str(solver.check())


def by_cvc5(text: str) -> str:
    """Ask cvc5: ``sat``, ``unsat`` or ``unknown``."""
    import cvc5  # noqa: PLC0415  the solvers are optional

    solver = cvc5.Solver()
    solver.setOption("tlimit-per", "20000")
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text + "(check-sat)\n", "condition")
    symbols = parser.getSymbolManager()
    answer = ""
    while not (command := parser.nextCommand()).isNull():
        answer = command.invoke(solver, symbols).strip() or answer
    return answer


def main() -> int:
    """Check every condition with both solvers; print a line each."""
    failures = 0
    solvers = {"z3": by_z3, "cvc5": by_cvc5}
    for wanted, conditions in (("unsat", CONDITIONS), ("sat", WRONG)):
        for condition in conditions:
            answers = {name: ask(script(condition)) for name, ask in solvers.items()}
            premises = {
                name: ask(script(condition, negate=False)) for name, ask in solvers.items()
            }
            good = set(answers.values()) == {wanted}
            if wanted == "unsat":  # not for lack of a case to which it applies
                good &= set(premises.values()) == {"sat"}
            failures += not good
            verdict = ("holds" if wanted == "unsat" else "refuted") if good else "FAILED"
            detail = "" if good else f"  {answers} premises {premises}"
            print(f"{verdict:8} {condition.name}{detail}")
    print(f"{len(CONDITIONS)} conditions, {len(WRONG)} wrong ones, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
