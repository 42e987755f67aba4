"""`python -m benchmarks.paper.hived NAME [--full]`: runs one experiment, prints a table."""

import argparse
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from benchmarks.paper.hived import allocator, sharing
from benchmarks.paper.hived.setting import Run, full, short, table

EXPERIMENTS: dict[str, Run] = {
    "schedulers": sharing.schedulers,
    "load": sharing.load,
    "leaving": sharing.leaving,
    "shapes": sharing.shapes,
    "soft": sharing.soft,
    "binding": allocator.binding,
    "fragmentation": allocator.fragmentation,
    "speed": allocator.speed,
    "longrun": allocator.longrun,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the experiment that was asked for."""
    parser = argparse.ArgumentParser("python -m benchmarks.paper.hived", description=__doc__)
    parser.add_argument("name", choices=EXPERIMENTS)
    parser.add_argument(
        "--full", action="store_true", help="60 days and 141,950 jobs, not 12 days"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, help="write all figures here")
    options = parser.parse_args(arguments)
    begun = time.process_time()
    setting = (full if options.full else short)(options.seed)
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
