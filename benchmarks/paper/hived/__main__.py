"""`python -m benchmarks.paper.hived NAME [--full]`: runs one experiment, prints a table."""

import argparse
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from benchmarks.paper.hived import allocator, sharing
from benchmarks.paper.hived.fragmentation import fragmentation
from benchmarks.paper.hived.philly import philly
from benchmarks.paper.hived.setting import Study, generated, table

EXPERIMENTS: dict[str, Study] = {
    "schedulers": sharing.schedulers,
    "load": sharing.load,
    "leaving": sharing.leaving,
    "shapes": sharing.shapes,
    "soft": sharing.soft,
    "binding": allocator.binding,
    "fragmentation": fragmentation,
    "speed": allocator.speed,
    "longrun": allocator.longrun,
    "philly": philly,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the experiment that was asked for."""
    parser = argparse.ArgumentParser("python -m benchmarks.paper.hived", description=__doc__)
    parser.add_argument("name", choices=EXPERIMENTS)
    parser.add_argument("--days", type=int, default=12, help="of the trace's 60 (12)")
    parser.add_argument("--full", action="store_true", help="all 60 days, 141,950 jobs")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, help="write all figures here")
    options = parser.parse_args(arguments)
    begun = time.process_time()
    setting = generated(60 if options.full else options.days, options.seed)
    found = EXPERIMENTS[options.name](setting)
    seconds = time.process_time() - begun
    scale = f"{len(setting.trace.jobs)} jobs in {setting.options.days} days"
    print(f"**{found.title}**\n\n{table(found)}\n")
    print(f"{scale}, seed {options.seed}, {seconds:.0f} s of CPU")
    if options.json:
        data = {"scale": scale, "seed": options.seed, "cpu_seconds": round(seconds, 1)}
        options.json.write_text(json.dumps({**data, **asdict(found)}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
