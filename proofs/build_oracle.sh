#!/bin/sh
# Builds the oracle, the allocator extracted from the proofs, without checking them:
#   proofs/build_oracle.sh FILE
set -eu
here=$(cd "$(dirname "$0")" && pwd)
target=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
cp "$here/Cells.v" "$here/Extract.v" "$here/oracle.ml" "$work"
cd "$work"
coqc -w none -Q . Proofs Cells.v
coqc -w none -Q . Proofs Extract.v
# Extracted code is not ours to tidy: warnings off for it alone.
ocamlfind ocamlopt -w -a -c allocator.mli allocator.ml
ocamlfind ocamlopt -w +a-4-40..42-70 -o oracle allocator.cmx oracle.ml
cp oracle "$target"
