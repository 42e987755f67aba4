"""`python -m benchmarks.paper.hived.page`: the documentation's page of the saved results.

Takes the JSON under `results`, gives `docs/hived/paper.md`; runs no experiment.
"""

import json
import sys
from pathlib import Path

from benchmarks.paper.hived.setting import Experiment, Row, table

RESULTS = Path(__file__).resolve().parent / "results"
PAGE = Path(__file__).resolve().parents[3] / "docs" / "hived" / "paper.md"
ORDER = ("load", "schedulers", "leaving", "shapes", "soft", "binding", "fragmentation", "speed",
         "longrun")  # fmt: skip
HEAD = """# HiveD's evaluation

The paper's experiments (OSDI 2020, Section 5) on [a generated trace](simulation.md#the-trace):
published numbers beside ours. The production trace is not public, so ours can agree in kind, not
in figures; what that leaves open stands below each table. One command an experiment:

```sh
python -m benchmarks.paper.hived load --full
```

Without `--full` an experiment takes 12 days of the trace, not 60, at the same rate. This page
is made of saved results by `python -m benchmarks.paper.hived.page`. Delays are means over a
tenant's jobs of the time from submission to end, less the duration; "×" is the multiple of the
same tenant's mean in its private cluster with the same scheduler. Sharing safety (no job granted
or done later under cells than in private) was checked for every job of every run; an experiment
in which it did not hold would end with an error.
"""


def main() -> int:
    """Write the page."""
    parts = [HEAD]
    for name in ORDER:
        path = RESULTS / f"{name}.json"
        if not path.exists():
            continue
        data = json.loads(path.read_text())
        rows = tuple(Row(**row) for row in data["rows"])
        found = Experiment(data["title"], rows, data["open"], None)
        command = f"python -m benchmarks.paper.hived {name}" + (
            " --full" if data["scale"].startswith("141950") else ""
        )
        made = f"`{command}`: {data['scale']}, seed {data['seed']}."
        parts.append(f"## {data['title']}\n\n{table(found)}\n\n{made}\n")
    PAGE.write_text("\n".join(parts), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
