"""Mutated definitions that the proofs must reject.

``mutants.py DIRECTORY`` takes a directory with the compiled proofs, applies one
mutation at a time to a copy and compiles again: each must fail, and in a proof,
not because the mutated definition itself is ill-formed. ``mutants.py --strip FILE``
prints a Coq file without its comments.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

# name, file, what stands there, what is put in its place
MUTANTS = [
    ("no quota check", "Cells", " && (holds s t k <? quota q t k)", " && true"),
    ("quota off by one", "Cells", "(holds s t k <? quota q t k)", "(holds s t k <=? quota q t k)"),
    ("anyone may release", "Cells", "if mem held_eqb (t, c) (held s)\n", "if true\n"),
    (
        "release forgets the holder",
        "Cells",
        "held := remove1 held_eqb (t, c) (held s)",
        "held := held s",
    ),
    ("grant is not recorded", "Cells", "held := (t, (k, i)) :: held s", "held := held s"),
    (
        "granted cell stays free",
        "Cells",
        "(x, upd fr k (remove1 Nat.eqb x (fr k)))",
        "(x, upd fr k (fr k))",
    ),
    (
        "lost child",
        "Cells",
        "remove1 Nat.eqb x kids ++ fr' k",
        "tl (remove1 Nat.eqb x kids) ++ fr' k",
    ),
    (
        "buddies thrown away",
        "Cells",
        "(x, upd fr' k (remove1 Nat.eqb x kids ++ fr' k))",
        "(x, fr')",
    ),
    (
        "split child also free",
        "Cells",
        "upd fr' k (remove1 Nat.eqb x kids ++ fr' k)",
        "upd fr' k (kids ++ fr' k)",
    ),
    (
        "children overlap",
        "Cells",
        "seq (i * factor p k) (factor p k).",
        "seq (i * factor p k) (S (factor p k)).",
    ),
    (
        "children of the neighbour",
        "Cells",
        "seq (i * factor p k) (factor p k).",
        "seq (S i * factor p k) (factor p k).",
    ),
    ("partial merge", "Cells", "merge k && forallb", "merge k && existsb"),
    (
        "merge keeps the buddies",
        "Cells",
        "(upd fr k (fold_right (remove1 Nat.eqb) (fr k) buddies))",
        "fr",
    ),
    (
        "merge into the wrong parent",
        "Cells",
        "let parent := i / factor p k in",
        "let parent := S (i / factor p k) in",
    ),
    ("released cell is lost", "Cells", "      else upd fr k (i :: fr k)", "      else fr"),
    (
        "search starts too high",
        "Cells",
        "match find (top p - k) k (free s) with",
        "match find (top p - S k) (S k) (free s) with",
    ),
    (
        "search stops too low",
        "Cells",
        "match find (top p - k) k (free s) with",
        "match find (top p - S k) k (free s) with",
    ),
    (
        "F counts cells that are owed",
        "Cells",
        "(f (S k) + splittable_from p f owed d' (S k) - owed (S k))",
        "(f (S k) + splittable_from p f owed d' (S k))",
    ),
    (
        "F with the wrong split factor",
        "Cells",
        "| S d' => Z.of_nat (factor p k) *",
        "| S d' => Z.of_nat (factor p (S k)) *",
    ),
    (
        "F one level only",
        "Cells",
        "(f (S k) + splittable_from p f owed d' (S k) - owed (S k))",
        "(f (S k) - owed (S k))",
    ),
    (
        "start need not be disjoint",
        "Cells",
        "(forall c, In c l -> in_cluster p c) /\\ NoDup (gpus_of p l) /\\",
        "(forall c, In c l -> in_cluster p c) /\\ True /\\",
    ),
    (
        "start outside the cluster",
        "Cells",
        "fst c <= top p /\\ incl (gpus p c) (all_gpus p).",
        "fst c <= top p.",
    ),
    (
        "detour looks at one level",
        "Cells",
        "(forall j, k < j <= k + d -> (1 <= slack p q s j)%Z) ->",
        "(forall j, j = k + d -> (1 <= slack p q s j)%Z) ->",
    ),
    (
        "detour without the quota",
        "Cells",
        "if legalb p q s t k && (k + d <=? top p) then",
        "if (k + d <=? top p) then",
    ),
    ("any policy", "Cells", "forall k l, l <> [] -> In (choose k l) l.", "True."),
    (
        "share means the smaller of both",
        "Tune",
        "match how e with AtDemand => demand (who e) | AtShare => per_gpu end.",
        "match how e with AtDemand => demand (who e)"
        " | AtShare => fun r => Nat.min (demand (who e) r) (per_gpu r) end.",
    ),
    (
        "servers need not be closed",
        "Tune",
        "  forall e, In e l -> exceeds e -> on_some touched e ->\n",
        "  forall e, In e l -> exceeds e -> on_some touched e -> False ->\n",
    ),
    (
        "some keep more than their share",
        "Tune",
        "((~ on_some touched e \\/ within (allotment e) per_gpu) /\\ e' = e)).",
        "(True /\\ e' = e)).",
    ),
    (
        "fallback ends before it fits",
        "Tune",
        "switches (e :: l) m -> fits m -> step l m.",
        "switches (e :: l) m -> True -> step l m.",
    ),
    (
        "jobs inside their share are switched",
        "Tune",
        "| switch_one : forall a e b, exceeds e ->",
        "| switch_one : forall a e b, True ->",
    ),
    (
        "share enters unchecked",
        "Tune",
        "    fits ({| who := j; pieces := ps; how := AtShare |} :: l) ->\n",
        "    True ->\n",
    ),
    (
        "vertex condition dropped",
        "Vertices",
        "P x /\\ forall y z, P y -> P z -> (forall v, x v = (y v + z v) / 2%:R) -> y =1 x.",
        "P x.",
    ),
    (
        "schedule with overfull servers",
        "Ideal",
        "      forall i r, \\sum_o need o r * x (i, o) <= capacity i r\n",
        "      forall i r, \\sum_o need o r * x (i, o) <= capacity i r + 1\n",
    ),
    (
        "schedule that loses jobs",
        "Ideal",
        "forall j, \\sum_i \\sum_(o | job o == j) x (i, o) = 1,",
        "forall j, \\sum_i \\sum_(o | job o == j) x (i, o) <= 1,",
    ),
    (
        "reduced rate with the wrong sign",
        "Ideal",
        "rate o - \\sum_r price r * need o r.",
        "rate o + \\sum_r price r * need o r.",
    ),
    (
        "bound forgets the profits",
        "Ideal",
        "\\sum_r price r * cap r + \\sum_j profit j.",
        "\\sum_r price r * cap r + 0 * \\sum_j profit j.",
    ),
    (
        "placement loses part of a job",
        "Placement",
        "      forall j, \\sum_i x (i, j) = 1\n",
        "      forall j, \\sum_i x (i, j) <= 1\n",
    ),
    (
        "placement overfills servers",
        "Placement",
        "    & forall i r, \\sum_j demand j r * x (i, j) <= capacity i r].",
        "    & forall i r, \\sum_j demand j r * x (i, j) <= capacity i r + 1].",
    ),
    (
        "cut at the wrong place",
        "Placement",
        "used p1 r = a%:R / (a + b)%:R * used p r",
        "used p1 r = 1 / 2%:R * used p r",
    ),
    ("cuts not counted", "Placement", "(#|cut_jobs p1 p2| <= #|Resource|)%N ->", "true ->"),
    (
        "uncut parts are cut",
        "Placement",
        "(\\sum_(y <- x) #|support y| <= #|support p|)%N -> halving",
        "true -> halving",
    ),
    (
        "demand enters unchecked",
        "Tune",
        "    fits ({| who := j; pieces := ps; how := AtDemand |} :: l) ->\n",
        "    True ->\n",
    ),
]


def strip_comments(text: str) -> str:
    """Return `text` without (nested) Coq comments, its lines kept."""
    out, depth, at = [], 0, 0
    for token in re.finditer(r"\(\*|\*\)|\n|.", text):
        piece = token.group()
        if piece == "(*":
            depth += 1
        elif piece == "*)" and depth:
            depth -= 1
        elif depth == 0 or piece == "\n":
            out.append(piece)
        at = token.end()
    return "".join(out) + text[at:]


def sentence_end(text: str, at: int) -> int:
    """Return the line on which the Coq sentence around `at` ends."""
    stop = re.search(r"\.(\s|$)", text[at:])
    return text.count("\n", 0, at + (stop.start() if stop else 0)) + 1


def rejected(compiled: Path, order: list[str], mutant: tuple[str, str, str, str]) -> str | None:
    """Return where the proofs fail under `mutant`, or None where they do not."""
    name, module, old, new = mutant
    with tempfile.TemporaryDirectory() as scratch:
        work = Path(scratch)
        position = order.index(module)
        for before in order[:position]:
            shutil.copy(compiled / f"{before}.vo", work)
        for here in order[position:]:
            shutil.copy(compiled / f"{here}.v", work)
        source = work / f"{module}.v"
        text = source.read_text()
        if old not in text:
            sys.exit(f"mutants.py: {name}: {module}.v no longer contains {old!r}")
        at = text.index(old)
        mutated = text[:at] + new + text[at + len(old) :]
        source.write_text(mutated)
        last = sentence_end(mutated, at + len(new) - 1)
        needs = {module}
        for current in order[position:]:
            text = (work / f"{current}.v").read_text()
            imported = re.findall(r"From Proofs Require Import ([^.]*)\.", text)
            imports = set(" ".join(imported).split())
            if current != module and not imports & needs:
                if (compiled / f"{current}.vo").exists():
                    shutil.copy(compiled / f"{current}.vo", work)
                continue
            needs.add(current)
            run = subprocess.run(
                ["coqc", "-w", "none", "-Q", ".", "Proofs", f"{current}.v"],
                cwd=work,
                capture_output=True,
                text=True,
                timeout=240,
                check=False,
            )
            if run.returncode:
                line = re.search(r'File ".*?", line (\d+)', run.stderr)
                number = int(line.group(1)) if line else 0
                if current == module and number <= last:
                    sys.exit(f"mutants.py: {name}: the mutation is ill-formed\n{run.stderr}")
                return f"{current}.v:{number}"
    return None


def main() -> int:
    """Run all mutants, or strip a file of comments."""
    if sys.argv[1] == "--strip":
        sys.stdout.write(strip_comments(Path(sys.argv[2]).read_text()))
        return 0
    compiled = Path(sys.argv[1])
    order = (Path(__file__).parent / "ORDER").read_text().split()
    chosen = [m for m in MUTANTS if len(sys.argv) < 3 or sys.argv[2] in m[0]]
    survivors = 0
    for mutant in chosen:
        where = rejected(compiled, order, mutant)
        print(f"   {'rejected at ' + where if where else 'SURVIVES':32} {mutant[0]}", flush=True)
        survivors += where is None
    print(f"   {len(chosen) - survivors} of {len(chosen)} mutants rejected")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
