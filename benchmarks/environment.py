"""Under what a run was made: versions and a generic description of the machine.

Takes nothing and gives plain data. No host name, no user, no path.
"""

from __future__ import annotations

import os
import platform
import subprocess
from datetime import UTC, datetime
from pathlib import Path

from synergy_opt.versions import DISTRIBUTION, versions

_ROOT = Path(__file__).resolve().parents[1]


def environment() -> dict[str, object]:
    """Give versions, the commit where this is a checkout, and what the machine is."""
    known = versions()
    return {
        "version": known[DISTRIBUTION],
        "commit": _commit(),
        "libraries": {k: v for k, v in known.items() if k not in (DISTRIBUTION, "system")},
        "hardware": hardware(),
    }


def hardware() -> str:
    """Describe the machine in words: architecture, system, cores, memory."""
    cores = os.cpu_count() or 1
    pages, size = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
    gigabytes = round(pages * size / 2**30)
    return f"{platform.machine()} {platform.system()}, {cores} cores, {gigabytes} GB"


def today() -> str:
    """Give the date, by UTC."""
    return datetime.now(UTC).date().isoformat()


def _commit() -> str | None:
    command = ["git", "-C", str(_ROOT), "rev-parse", "--short=12", "HEAD"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=10)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()
