"""Many runs, each kept in a file of its own as soon as it is done.

Takes cases by name and a function, gives their documents in the order of the cases; a run that is
in the folder already is read and not done again, so a killed sweep loses the runs in hand alone.
Parallelism is joblib's: local processes, or a Dask or Ray cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import Literal, TypeVar

from synergy_opt.errors import InvalidInstance
from synergy_opt.io.plain_json import read_plain, write_plain

T = TypeVar("T")
Document = dict[str, object]
Backend = Literal["loky", "dask", "ray"]

_PATIENCE = 10  # s until a scheduler has to answer
_NEEDS = {"dask": "distributed", "ray": "ray"}


def sweep(
    cases: Mapping[str, T],
    run: Callable[[T], Document],
    *,
    folder: Path | None = None,
    workers: int = 1,
    backend: Backend = "loky",
    address: str | None = None,
    read: Callable[[Path, T], Document] | None = None,
    progress: Callable[[int], None] | None = None,
) -> list[Document]:
    """Do every case that is not done yet.

    Parameters
    ----------
    cases
        By the name of their files, which must say everything that the document depends on.
    run
        A function of a module, so that other processes can import it.
    folder
        Where documents are kept, one file a case; None keeps nothing.
    workers
        Processes; 1 runs everything in this one.
    backend, address
        Who runs them; the address of the scheduler for `dask` and `ray`, default a local one.
    read
        Gives the document that a case's file holds, or refuses it; default: any JSON object.
    progress
        Called with the number of cases that are done.

    Returns
    -------
    list of dict
        In the order of `cases`, the same whatever the number of processes.

    Raises
    ------
    InvalidInstance
        When the backend is not installed, or a file cannot be read or written.
    """
    found: dict[str, Document] = {}
    if folder is not None:
        for name, case in cases.items():
            path = folder / f"{name}.json"
            if path.exists():
                found[name] = read_plain(path) if read is None else read(path, case)
    if progress:
        progress(len(found))
    missing = [(name, case) for name, case in cases.items() if name not in found]
    one = partial(_one, run=run, folder=folder)
    local = workers == 1 and backend == "loky"
    done = map(one, missing) if local else _parallel(missing, one, workers, backend, address)
    for name, document in done:
        found[name] = document
        if progress:
            progress(len(found))
    return [found[name] for name in cases]


def _one(
    case: tuple[str, T], *, run: Callable[[T], Document], folder: Path | None
) -> tuple[str, Document]:
    """Run a case and keep its document: here, in the process that did the work."""
    name, value = case
    document = run(value)
    if folder is not None:
        write_plain(folder / f"{name}.json", document)
    return name, document


def _parallel(
    missing: Sequence[tuple[str, T]],
    one: Callable[[tuple[str, T]], tuple[str, Document]],
    workers: int,
    backend: Backend,
    address: str | None,
) -> Iterator[tuple[str, Document]]:
    """Run cases in other processes, in any order.

    Ray gives documents when all are done, so the progress comes at once; files come as always.
    """
    from joblib import Parallel, delayed  # noqa: PLC0415 - 0.2 s to import

    given = "list" if backend == "ray" else "generator_unordered"
    with _backend(backend, address):
        tasks = (delayed(one)(case) for case in missing)
        yield from Parallel(n_jobs=workers, return_as=given, pre_dispatch=workers)(tasks)


@contextmanager
def _backend(backend: Backend, address: str | None) -> Iterator[None]:
    """Make joblib use a backend for as long as the context lasts."""
    from joblib import parallel_config  # noqa: PLC0415

    if backend == "loky":
        if address is not None:
            raise InvalidInstance("local processes have no address", "--address")
        with parallel_config(backend="loky"):
            yield
        return
    try:
        client = _client(backend, address)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != _NEEDS[backend]:
            raise
        rule = f"{backend} is not installed: pip install {_NEEDS[backend]}"
        raise InvalidInstance(rule, "--backend") from None
    except (OSError, ValueError) as error:  # a timeout is an OSError
        raise InvalidInstance(f"no {backend} answers at {address}: {error}", "--address") from None
    with client, parallel_config(backend=backend):
        yield


def _client(backend: Backend, address: str | None) -> AbstractContextManager[object]:
    """Connect to a cluster, or start a local one, for as long as the context lasts."""
    if backend == "dask":
        from distributed import Client  # noqa: PLC0415

        client: AbstractContextManager[object] = Client(address, timeout=_PATIENCE)
        return client
    import ray  # noqa: PLC0415
    from ray.util.joblib import register_ray  # noqa: PLC0415

    register_ray()
    session: AbstractContextManager[object] = ray.init(address=address)
    return session
