"""Measurements in child processes, tables, and files that are written whole.

Takes functions without arguments that give rows, and gives the rows with CPU time and peak memory.
"""

from __future__ import annotations

import _thread
import json
import multiprocessing
import os
import platform
import resource
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from rich.console import Console
from rich.table import Table

T = TypeVar("T")
Row = dict[str, Any]


def timed(work: Callable[[], T]) -> tuple[T, Row]:
    """Give a result with the process's CPU seconds and the clock's."""
    clock, cpu = time.perf_counter(), time.process_time()
    result = work()
    row: Row = {
        "cpu s": round(time.process_time() - cpu, 3),
        "clock s": round(time.perf_counter() - clock, 3),
    }
    return result, row


@contextmanager
def interrupted_after(seconds: float) -> Iterator[None]:
    """Press Ctrl-C in this process once it has used so many more seconds of CPU.

    A solver's own limit is of the clock, which a shared machine stretches.
    """
    start, done = time.process_time(), threading.Event()

    def watch() -> None:
        while not done.wait(0.05):
            if time.process_time() - start >= seconds:
                _thread.interrupt_main()
                return

    threading.Thread(target=watch, daemon=True).start()
    try:
        yield
    finally:
        done.set()


def in_child(task: Callable[[], Row]) -> Row:
    """Run a task in a process of its own; add its peak memory where the row does not say one."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(max_workers=1, mp_context=context) as pool:
        return pool.submit(_with_memory, task).result()


def _with_memory(task: Callable[[], Row]) -> Row:
    row = task()
    return {"MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024, **row}


def machine() -> Row:
    """Say what the figures were measured on."""
    return {
        "python": platform.python_version(),
        "system": platform.platform(),
        "processors": os.cpu_count(),
    }


def write_json(path: Path, document: object) -> None:
    """Write a file beside its place and move it there."""
    aside = path.with_name(path.name + ".part")
    aside.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n")
    aside.replace(path)


def print_table(title: str, rows: Mapping[str, Row], columns: Sequence[str]) -> None:
    """Print one line a row; a column that no row has is left out."""
    used = [c for c in columns if any(c in row for row in rows.values())]
    table = Table("task", *used, title=title)
    for column in table.columns[1:]:
        column.justify = "right"
    for name, row in rows.items():
        table.add_row(name, *(_text(row.get(c)) for c in used))
    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=200)
    console.print(table)


def _text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "NO"
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 1000 else f"{value:.1f}"
    return str(value)
