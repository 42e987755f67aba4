#!/bin/sh
# Checks every proof from the sources, in a temporary directory.
#
# Fails on: a file that does not compile; Admitted, Axiom or the like; a theorem
# that rests on an assumption; coqchk reporting an axiom; a mutated definition
# that the proofs accept; golden traces that the oracle does not reproduce.
#
#   proofs/check.sh [--quick]      --quick leaves out coqchk and the mutants
#   ORACLE=FILE proofs/check.sh    also keeps the built oracle as FILE
set -eu
here=$(cd "$(dirname "$0")" && pwd)
quick=${1:-}
for tool in coqc coqchk ocamlfind python3; do
  command -v "$tool" >/dev/null || {
    echo "proofs/check.sh: $tool is missing: no proof was checked" >&2
    echo "  Debian: apt-get install coq libcoq-mathcomp-algebra ocaml-nox ocaml-findlib" >&2
    exit 3
  }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
fail() { echo "proofs/check.sh: $*" >&2; exit 1; }

# Order of compilation: each file needs some before it.
files=$(cat "$here/ORDER")

echo "== no holes in the sources"
for f in "$here"/*.v; do
  grep -qx "$(basename "$f" .v)" "$here/ORDER" || fail "$(basename "$f") is not in ORDER"
  # Comments go first, so that prose may name what the code may not use.
  python3 "$here/mutants.py" --strip "$f" > "$work/stripped"
  if grep -nwE 'Admitted|admit|Axiom|Axioms|Parameter|Parameters|Conjecture|Abort|Unset Guard Checking|Unset Positivity Checking|Unset Universe Checking|bypass_check' "$work/stripped"; then
    fail "$(basename "$f") has a hole"
  fi
done

echo "== compile"
cp "$here"/*.v "$here"/*.ml "$work"
cd "$work"
for f in $files; do
  coqc -w none -Q . Proofs "$f.v" > "$f.out" || fail "$f.v does not compile"
done

echo "== assumptions"
for f in StatementsHived StatementsTune StatementsSynergy; do
  asked=$(grep -c '^Print Assumptions' "$f.v")
  closed=$(grep -c '^Closed under the global context$' "$f.out")
  [ "$asked" -eq "$closed" ] || { cat "$f.out" >&2; fail "$f: $closed of $asked closed"; }
  for name in $(sed -nE 's/^ *(Theorem|Lemma|Corollary|Example|Fact|Remark|Proposition) +([A-Za-z0-9_]+).*/\2/p' "$f.v"); do
    grep -qx "Print Assumptions $name\." "$f.v" || fail "$f: no Print Assumptions $name"
  done
  echo "   $f: $closed of $asked closed under the global context"
done

echo "== oracle"
# Extracted code is not ours to tidy: warnings off for it alone.
ocamlfind ocamlopt -w -a -c allocator.mli allocator.ml
ocamlfind ocamlopt -w +a-4-40..42-70 -o oracle allocator.cmx oracle.ml
for golden in "$here"/golden/*.txt; do
  ./oracle < "$golden" > replayed
  grep -v '^#' "$golden" | cmp -s - replayed || fail "$(basename "$golden") is not what the oracle says"
done
[ -z "${ORACLE:-}" ] || cp oracle "$ORACLE"

[ "$quick" = --quick ] && { echo "== quick: coqchk and mutants left out"; exit 0; }

echo "== coqchk, in the background"
(coqchk -silent -o -Q . Proofs Proofs.StatementsHived Proofs.StatementsTune Proofs.StatementsSynergy > coqchk.out 2>&1 \
   && echo 0 > coqchk.status || echo 1 > coqchk.status) &
chk=$!

echo "== mutants"
python3 "$here/mutants.py" "$work" || { kill $chk 2>/dev/null || true; fail "a mutant survives"; }

wait $chk
[ "$(cat coqchk.status)" = 0 ] || { cat coqchk.out >&2; fail "coqchk"; }
grep -q '^\* Axioms: <none>$' coqchk.out || { cat coqchk.out >&2; fail "coqchk reports axioms"; }
! grep -E '^\* (Constants|Inductives)' coqchk.out | grep -vq ': <none>$' || {
  cat coqchk.out >&2; fail "coqchk reports an unsafe definition"; }
echo "   coqchk: Axioms: <none>"
echo "== all checks passed"
