"""Make the golden traces anew: ``python tests/proofs/regenerate.py ORACLE``.

ORACLE is the program that ``proofs/build_oracle.sh`` builds; the answers come from it alone.
"""

import subprocess
import sys

from proof_traces import PROOFS, random_trace

GOLDEN = 40  # traces
HEAD = f"""\
# What the proved allocator answers to {GOLDEN} random traces. The format is explained in
# proofs/oracle.ml; made by tests/proofs/regenerate.py, checked by proofs/check.sh.
"""

if __name__ == "__main__":
    traces = "\n".join(line for seed in range(GOLDEN) for line in random_trace(seed)) + "\n"
    answers = subprocess.run(
        [sys.argv[1]], input=traces, capture_output=True, text=True, check=True
    ).stdout
    (PROOFS / "golden" / "traces.txt").write_text(HEAD + answers)
