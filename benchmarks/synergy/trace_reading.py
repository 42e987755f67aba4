"""How long a large trace takes to read, and how much memory.

Writes a trace of random jobs to a temporary file, reads it back in our format and checks the
number of jobs. Run it as

    python -m benchmarks.synergy.trace_reading --rows 1000000
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from pathlib import Path
from random import Random

from synergy_opt.io import read_workload
from synergy_opt.profiling.cache_model import MODELS


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000, metavar="N")
    rows = parser.parse_args().rows
    rng, names = Random(1), list(MODELS)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.csv"
        with path.open("w") as file:
            file.write("id,submitted,duration,gpus,profile\n")
            for i in range(rows):
                name = names[rng.randrange(len(names))]
                file.write(f"J{i},{7 * i}.25,{rng.randrange(1, 10**6)},{1 + i % 8},{name}\n")
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        start = time.process_time()
        jobs = len(read_workload(path).jobs)
        seconds = time.process_time() - start
        megabytes = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
        assert jobs == rows
    print(
        f"{rows:,} rows: {seconds:.1f} s of processor time, {1e6 * seconds / rows:.1f} µs a row; "
        f"{megabytes:.0f} MB, {1e6 * megabytes / rows:.0f} bytes a row"
    )


if __name__ == "__main__":
    main()
