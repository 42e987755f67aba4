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
         "longrun", "philly")  # fmt: skip
PICTURES = {
    "load": "![Mean delay of each tenant on 200 nodes](images/delays.png)\n\n"
    "Guaranteed jobs only: as cells every tenant waits as it would alone.\n",
    "fragmentation": "![Whole nodes by day](images/fragmentation.png)\n\n"
    "Nodes of which nothing is held, daily means, capacity scheduler without low priority.\n",
}
HEAD = """# HiveD's evaluation

The paper's experiments (OSDI 2020, Section 5) on [a generated trace](simulation.md#the-trace):
published numbers beside ours. The production trace is not public, so ours can agree in kind, not
in figures; what that leaves open stands below each table. One command an experiment:

```sh
python -m benchmarks.paper.hived load --full
```

Without `--full` or `--days` an experiment takes 12 days, not 60, at the same rate. This page
is made of saved results by `python -m benchmarks.paper.hived.page`. Delays are means over a
tenant's jobs of the time from submission to end, less the duration; "×" is the multiple of the
same tenant's mean in its private cluster with the same scheduler. Sharing safety (no job granted
or done later under cells than in private) is checked for every job of every run under cells; an
experiment in which it does not hold ends with an error.
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
        days = int(data["scale"].split()[-2])
        size = {12: "", 60: " --full"}.get(days, f" --days {days}")
        command = f"python -m benchmarks.paper.hived {name}{size}"
        made = f"`{command}`: {data['scale']}, seed {data['seed']}."
        if name in ("speed", "philly"):
            made = f"`{command}`."
        parts.append(f"## {data['title']}\n\n{table(found)}\n\n{made}\n")
        if name in PICTURES:
            parts.append(PICTURES[name])
    PAGE.write_text("\n".join(parts), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
