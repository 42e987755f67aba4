"""``synergy-opt simulate``: a workload, policies and mechanisms → times, in tables and files."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from synergy_opt.cli import DONE, common
from synergy_opt.cli.simulate_options import add_cluster, add_sweep, add_timing, add_workload
from synergy_opt.cli.streams import say

if TYPE_CHECKING:
    from synergy_opt.model import Cluster, Instance
    from synergy_opt.simulation import Workload
    from synergy_opt.simulation.simulate import Progress, Shown
    from synergy_opt.sweep.scenario import Scenario

_POLICIES = ("fifo", "srtf", "las", "ftf")
_SIZES = ("servers", "gpus", "cpu", "memory")


def add(parser: argparse.ArgumentParser) -> None:
    """Describe the command."""
    from synergy_opt.cli.mechanisms import HELP  # noqa: PLC0415

    parser.add_argument(
        "--policy", action="append", choices=_POLICIES, help="may be repeated (default fifo)"
    )
    parser.add_argument(
        "--mechanism",
        action="append",
        metavar="NAME",
        help=f"may be repeated (default proportional and tune): {HELP}",
    )
    add_workload(parser)
    add_cluster(parser)
    add_timing(parser)
    add_sweep(parser)
    common.add_json(parser)
    parser.epilog = (
        "Times are exact. used + free = capacity is checked in every resource at each decision; a "
        "function of yours is certified at each one. The same arguments give the same results on "
        "one process and on many."
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Simulate, write, show."""
    from synergy_opt.io.text import write_text  # noqa: PLC0415
    from synergy_opt.sweep import sweep  # noqa: PLC0415
    from synergy_opt.sweep.report import groups, jobs_csv, runs_csv, table  # noqa: PLC0415

    cases = _cases(options)
    folder = None if options.output is None else _folder(options.output)
    here = options.workers == 1 and options.backend == "loky"
    with _progress(len(cases), here=here, quiet=options.json) as (show, inside):
        documents = sweep(
            cases,
            execute if inside is None else partial(execute, progress=inside),
            folder=folder,
            workers=options.workers,
            backend=options.backend,
            address=options.address,
            read=_kept,
            progress=show,
        )
    if folder is not None:
        write_text(folder / "runs.csv", runs_csv(documents))
        write_text(folder / "jobs.csv", jobs_csv(documents))
    rows = groups(documents)
    if options.json:
        runs = [{"settings": d["settings"], "summary": d["summary"]} for d in documents]
        common.print_json({"groups": rows, "runs": runs})
        return DONE
    common.console().print(table(rows))
    if folder is not None:
        print(f"{len(documents)} runs in {folder}")
    return DONE


def execute(scenario: Scenario, *, progress: Progress | None = None) -> dict[str, object]:
    """Run one scenario, in whatever process."""
    from synergy_opt.cli.mechanisms import mechanism  # noqa: PLC0415
    from synergy_opt.solution import Limits  # noqa: PLC0415
    from synergy_opt.sweep.scenario import played  # noqa: PLC0415

    name = scenario.mechanism
    method = mechanism(name, Limits())
    if ":" in name:
        method = _certified(name, method)
    shown: Shown = "queue" if ":" in name or name in _WHOLE_QUEUE else "runnable"
    return played(scenario, method, shown=shown, progress=progress)


def _kept(path: Path, scenario: Scenario) -> dict[str, object]:
    """Read the document of a run that was done before."""
    from synergy_opt.sweep.kept import read_run  # noqa: PLC0415

    return read_run(path, scenario.settings)


_WHOLE_QUEUE = ("greedy", "drf", "tetris")  # built-in ones that look behind the runnable jobs


def _certified(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    """Let a user's function see copies alone, and believe nothing that is not certified."""
    from synergy_opt.certificate import plain, violations  # noqa: PLC0415
    from synergy_opt.comparison import own_copy  # noqa: PLC0415
    from synergy_opt.errors import NotCertified  # noqa: PLC0415

    def judged(instance: Instance) -> Any:
        placement = method(own_copy(instance))
        found = violations(instance, placement)
        if found:
            raise NotCertified(f"{name}: the placement breaks a rule: {found[0]}")
        return plain(placement)

    return judged


def _cases(options: argparse.Namespace) -> Mapping[str, Scenario]:
    """Give the scenarios by the names of their files, in the order of the table."""
    from synergy_opt.cli.mechanisms import mechanism  # noqa: PLC0415
    from synergy_opt.simulation import Timing  # noqa: PLC0415
    from synergy_opt.solution import Limits  # noqa: PLC0415
    from synergy_opt.sweep.scenario import Scenario  # noqa: PLC0415

    timing = Timing(
        round_length=options.round or Fraction(300),
        fluid=options.fluid,
        sticky=options.sticky,
        move_cost=options.move_cost,
        profiling_time=options.profiling_time,
        floor_iterations=options.floor_iterations,
    )
    names = dict.fromkeys(options.mechanism or ("proportional", "tune"))
    for name in names:
        mechanism(name, Limits())  # says at once when there is none
    own = {name: _digest(name) for name in names}
    found: dict[str, Scenario] = {}
    for load, seed, workload, cluster in _workloads(options):
        for policy in dict.fromkeys(options.policy or ("fifo",)):
            for name in names:
                scenario = Scenario(
                    workload=workload,
                    cluster=cluster,
                    load=load,
                    seed=seed,
                    policy=policy,
                    mechanism=name,
                    own=own[name],
                    timing=timing,
                    window=options.window,
                )
                found[scenario.key] = scenario
    return found


def _digest(name: str) -> str | None:
    """Give a digest of the file of a user's function: once it is edited, its runs are others."""
    from hashlib import sha256  # noqa: PLC0415

    from synergy_opt.loading import source_of  # noqa: PLC0415

    return sha256(source_of(name)).hexdigest() if ":" in name else None


def _workloads(
    options: argparse.Namespace,
) -> Iterator[tuple[Fraction | None, int | None, Workload, Cluster]]:
    """Read the trace, or draw one a load and seed."""
    from synergy_opt.io import read_philly_csv, read_workload  # noqa: PLC0415
    from synergy_opt.simulation.derived import derived_workload  # noqa: PLC0415
    from synergy_opt.simulation.start import prepared  # noqa: PLC0415
    from synergy_opt.simulation.timing import Timing  # noqa: PLC0415

    cluster, profiles = _cluster(options)
    _check_workload(options)
    seeds = range(options.seeds or 1)
    if options.trace is not None:
        workload = read_workload(options.trace, profiles=profiles, most_gpus=cluster.gpus)
        prepared(workload, cluster, Timing(), options.window)  # says at once what cannot run
        yield None, None, workload, cluster
    elif options.philly is not None:
        split = options.split or (20, 70, 10)
        for seed in seeds:
            made = read_philly_csv(options.philly, split=split, seed=seed, most_gpus=cluster.gpus)
            if made.skipped and seed == seeds[0]:  # the same with every seed
                say(f"{options.philly}: {made}")
            workload = _first(made.workload, options.jobs)
            prepared(workload, cluster, Timing(), options.window)
            yield None, seed, workload, cluster
    else:
        for load in dict.fromkeys(options.load or (None,)):
            for seed in seeds:
                demands = (
                    {} if options.gpu_demands is None else {"gpu_demands": options.gpu_demands}
                )
                workload = derived_workload(
                    jobs=options.jobs or 1000,
                    seed=seed,
                    load=load,
                    split=options.split or (20, 70, 10),
                    **demands,
                )
                prepared(workload, cluster, Timing(), options.window)
                yield load, seed, workload, cluster


def _check_workload(options: argparse.Namespace) -> None:
    from synergy_opt.errors import InvalidInstance  # noqa: PLC0415

    excluded = {
        "trace": ("philly", "load", "jobs", "split", "gpu_demands", "seeds"),
        "philly": ("load", "gpu_demands", "instance"),
    }
    for given, others in excluded.items():
        for other in others:
            if getattr(options, given) is not None and getattr(options, other) is not None:
                rule = f"cannot be given with --{given}"
                raise InvalidInstance(rule, f"--{other.replace('_', '-')}")
    if options.instance is not None and options.trace is None:
        raise InvalidInstance("names profiles for a --trace", "--instance")


def _first(workload: Workload, jobs: int | None) -> Workload:
    from synergy_opt.simulation.derived import part  # noqa: PLC0415

    return workload if jobs is None else part(workload, 0, jobs)


def _cluster(options: argparse.Namespace) -> tuple[Cluster, Any]:
    """Give the cluster, and the profiles that a trace may name (None: the synthetic ones)."""
    from synergy_opt.errors import InvalidInstance  # noqa: PLC0415
    from synergy_opt.model import Cluster, Server  # noqa: PLC0415

    if options.instance is not None:
        for name in _SIZES:
            if getattr(options, name) is not None:
                raise InvalidInstance("cannot be given with --instance", f"--{name}")
        instance = common.load(options.instance)
        return instance.cluster, instance.profiles
    server = Server(
        type=f"{options.gpus or 8}xGPU",
        count=options.servers or 16,
        gpus=options.gpus or 8,
        capacity=(options.cpu or Fraction(24), options.memory or Fraction(500)),
    )
    return Cluster(resources={"cpu": "cores", "memory": "GB"}, servers=[server]), None


def _folder(name: str) -> Path:
    from synergy_opt.errors import InvalidInstance  # noqa: PLC0415

    if not name:  # "" would mean the current folder
        raise InvalidInstance("the name of a folder is empty", "--output")
    folder = Path(name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInstance(f"cannot be made: {error.strerror}", name) from None
    return folder


@contextmanager
def _progress(
    total: int, *, here: bool, quiet: bool
) -> Iterator[tuple[Callable[[int], None], Progress | None]]:
    """Show bars on a terminal's standard error; silent when piped.

    Gives what is told of the runs that are done, and of the jobs that have ended within one; the
    latter is None where nothing is shown, or where runs are other processes'.
    """
    import sys  # noqa: PLC0415

    if quiet or not sys.stderr.isatty():
        yield lambda _: None, None
        return
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import BarColumn, MofNCompleteColumn, TimeRemainingColumn  # noqa: PLC0415
    from rich.progress import Progress as Bars  # noqa: PLC0415

    columns = ("{task.description}", BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Bars(*columns, console=Console(stderr=True), transient=True) as bar:
        runs = bar.add_task("runs", total=total)
        jobs = bar.add_task("jobs of this run", total=None, visible=here)

        def inside(done: int, of: int) -> None:
            bar.update(jobs, completed=done, total=of)

        yield lambda done: bar.update(runs, completed=done), inside if here else None
