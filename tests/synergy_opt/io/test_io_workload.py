"""Traces: our CSV format round trips, and bad lines are refused with their line number."""

import gzip
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synergy_opt.errors import InvalidInstance
from synergy_opt.io import read_workload, workload_text, write_workload
from synergy_opt.model import Profile
from synergy_opt.simulation.workload import TraceJob, Workload

HEADER = "id,submitted,duration,gpus,profile"
GOOD = f"{HEADER}\na,0,60,1,gnmt\nb,0.5,10/3,2,resnet18\n"
PROFILES = {
    name: Profile(name=name, axes={"cpu": [1]}, throughput=[1])
    for name in ("plain", 'with "quotes", commas', "ünïcode")
}
times = st.fractions(0, 10**9)


@st.composite
def workloads(draw):
    """Draw any valid workload."""
    rows = draw(
        st.lists(
            st.tuples(
                times,
                times.filter(bool),
                st.integers(1, 10**6),
                st.sampled_from(list(PROFILES)),
            ),
            max_size=20,
        )
    )
    rows.sort(key=lambda row: row[0])
    prefix = draw(st.sampled_from(["", "job ", "ü", 'a"b,']))
    jobs = tuple(TraceJob(f"{prefix}{i}", *row) for i, row in enumerate(rows))
    return Workload("w", PROFILES, jobs)


@given(workload=workloads(), packed=st.booleans())
def test_what_is_written_reads_back_the_same(
    tmp_path_factory: pytest.TempPathFactory, workload: Workload, packed: bool
):
    """Tests identity, gzipped or not, for any exact times, names and demands."""
    path = tmp_path_factory.mktemp("round") / "w.csv"
    write_workload(path, workload)
    if packed:
        path.write_bytes(gzip.compress(path.read_bytes()))
    again = read_workload(path, profiles=PROFILES.values())
    assert again == workload
    assert workload_text(again) == workload_text(workload)


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: "\ufeff" + text,
        lambda text: text.replace("\n", "\n\n"),
        lambda text: text.removesuffix("\n"),
    ],
    ids=["crlf", "byte-order mark", "empty lines", "no end of line"],
)
def test_harmless_differences_do_no_harm(tmp_path: Path, change):
    """Tests files as spreadsheets and other systems write them."""
    plain, other = tmp_path / "w.csv", tmp_path / "other.csv"
    plain.write_text(GOOD)
    other.write_bytes(change(GOOD).encode())
    assert read_workload(other, name="w") == read_workload(plain)
    assert read_workload(plain).jobs[1] == TraceJob(
        "b", Fraction(1, 2), Fraction(10, 3), 2, "resnet18"
    )


BAD = [
    # line of the file, line number, column, words of the rule
    ("a,5,60,1,gnmt\nb,4,60,1,gnmt", 3, "submitted", "before the job above"),
    ("a,0,60,1,gnmt\na,1,60,1,gnmt", 3, "id", "occurs twice"),
    ("a,-1,60,1,gnmt", 2, "submitted", "must not be negative"),
    ("a,,60,1,gnmt", 2, "submitted", "must not be empty"),
    ("a,None,60,1,gnmt", 2, "submitted", "must be a number"),
    ("a,nan,60,1,gnmt", 2, "submitted", "must be finite"),
    ("a,0,0,1,gnmt", 2, "duration", "must be above 0"),
    ("a,0,-2,1,gnmt", 2, "duration", "must be above 0"),
    ("a,0,,1,gnmt", 2, "duration", "must not be empty"),
    ("a,0,60,0,gnmt", 2, "gpus", "at least 1"),
    ("a,0,60,1.5,gnmt", 2, "gpus", "whole number"),
    ("a,0,60,129,gnmt", 2, "gpus", "is 129, but the cluster has 128 GPUs"),
    ("a,0,60,1,unknown", 2, "profile", "no profile 'unknown'"),
    (",0,60,1,gnmt", 2, "id", "must not be empty"),
    ("a\x07b,0,60,1,gnmt", 2, "id", "cannot be printed"),
    ("a,0,60,1000001,gnmt", 2, "gpus", "but the cluster has 128"),
    ("a,0,60,1", 2, "", "has 4 cells"),
    ("a,0,60,1,gnmt,x", 2, "", "has 6 cells"),
    ('a,0,60,1,"gnmt', 2, "", "not CSV"),
    ("a,0,1/0,1,gnmt", 2, "duration", "denominator 0"),
]


@pytest.mark.parametrize(("lines", "number", "column", "rule"), BAD)
def test_a_bad_line_is_refused_with_its_number(
    tmp_path: Path, lines: str, number: int, column: str, rule: str
):
    """Tests one message with file, line, column and rule; before it, good lines do no harm."""
    path = tmp_path / "bad.csv"
    path.write_text(f"{HEADER}\n{lines}\n")
    with pytest.raises(InvalidInstance, match=rule) as caught:
        read_workload(path, most_gpus=128)
    place = f"{path}: line {number}" + (f", {column}" if column else "")
    assert caught.value.path == place


@pytest.mark.parametrize(
    ("data", "rule"),
    [
        (b"", "is empty"),
        (b"id,submitted,duration,gpus\n", "'profile' is missing"),
        (b"id,submitted,duration,gpus,profile,extra\n", "unknown column 'extra'"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n", "Git-LFS pointer"),
        (b"id,submitted\xff\n", "not UTF-8"),
        (gzip.compress(GOOD.encode(), mtime=0)[:-9], "gzipped but damaged"),
        (gzip.compress(GOOD.encode(), mtime=0)[:12] + b"\0" * 40, "gzipped but damaged"),
        (
            gzip.compress(b"version https://git-lfs.github.com/spec/v1\n", mtime=0),
            "'id' is missing",
        ),
    ],
)
def test_a_file_that_is_no_trace_is_refused(tmp_path: Path, data: bytes, rule: str):
    """Tests what can be wrong with the whole file."""
    path = tmp_path / "file.csv.gz"
    path.write_bytes(data)
    with pytest.raises(InvalidInstance, match=rule) as caught:
        read_workload(path)
    assert str(path) in str(caught.value)


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path):
    """Tests that no exception of the operating system leaks out."""
    for path in (tmp_path / "none.csv", tmp_path, Path("a\0b")):
        with pytest.raises(InvalidInstance, match="cannot be read"):
            read_workload(path)


def test_an_empty_trace_is_a_workload_without_jobs(tmp_path: Path):
    """Tests a header alone, and profiles that occur twice."""
    path = tmp_path / "empty.csv"
    path.write_text(HEADER + "\n")
    assert read_workload(path).jobs == ()
    assert read_workload(path).name == "empty"
    with pytest.raises(InvalidInstance, match="occurs twice"):
        read_workload(path, profiles=[PROFILES["plain"]] * 2)
