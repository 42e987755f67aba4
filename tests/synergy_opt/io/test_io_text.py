"""Files as bytes: whole or not at all, and every fault with the file's name."""

import os
from pathlib import Path

import pytest

from synergy_opt.errors import InvalidInstance
from synergy_opt.io.text import open_text, read_json, read_text, write_text


def test_writing_replaces_the_whole_file(tmp_path: Path):
    """Tests that a file is replaced, readable as the umask says, with nothing left beside it."""
    path = tmp_path / "a.json"
    path.write_text("old")
    write_text(path, "né")
    assert path.read_text(encoding="utf-8") == "né"
    assert os.listdir(tmp_path) == ["a.json"]  # noqa: PTH208
    mask = os.umask(0)
    os.umask(mask)
    assert path.stat().st_mode & 0o777 == 0o666 & ~mask


def test_an_empty_name_is_no_file():
    """Tests that "" is refused as what it is, not as the current folder."""
    for use in (lambda: read_text(""), lambda: write_text("", "text")):
        with pytest.raises(InvalidInstance, match=r"^the name of a file is empty"):
            use()


def test_a_failed_rename_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Tests that a write that fails at the end leaves the old file and nothing beside it."""
    path = tmp_path / "a.json"
    path.write_text("old")

    def full(self: Path, target: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(InvalidInstance, match=r"a\.json: cannot be written: No space left"):
        write_text(path, "new")
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.json"]  # noqa: PTH208


@pytest.mark.parametrize("target", [".", "no/such/folder/a.json", "x" * 300])
def test_a_place_that_takes_no_file_is_refused(tmp_path: Path, target: str):
    """Tests that a folder, a missing folder and a name that is too long are refused."""
    with pytest.raises(InvalidInstance, match="cannot be written"):
        write_text(tmp_path / target, "text")


def test_a_device_is_written_to_and_not_replaced():
    """Tests that /dev/null stays a device and /dev/full is a full disk."""
    write_text("/dev/null", "text")
    assert not Path("/dev/null").is_file()
    if Path("/dev/full").exists():
        with pytest.raises(InvalidInstance, match="/dev/full: cannot be written: No space left"):
            write_text("/dev/full", "text")


def test_a_link_stays_a_link(tmp_path: Path):
    """Tests that what a link points to is replaced, in that file's folder; and a loop is said."""
    (tmp_path / "there").mkdir()
    target, link = tmp_path / "there" / "a.json", tmp_path / "link.json"
    link.symlink_to(target)
    for text in ("new", "newer"):  # without a target and with one
        write_text(link, text)
        assert link.is_symlink()
        assert target.read_text() == text
        assert [each.name for each in target.parent.iterdir()] == ["a.json"]
    loop = tmp_path / "loop.json"
    loop.symlink_to(loop)
    with pytest.raises(InvalidInstance, match=r"loop\.json: cannot be written"):
        write_text(loop, "text")


def test_a_pipe_is_written_to_where_somebody_reads(tmp_path: Path):
    """Tests that a pipe without a reader is refused at once, and one with a reader gets it."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(InvalidInstance, match="pipe: cannot be written: it is a pipe that nobody"):
        write_text(pipe, "text")
    assert pipe.is_fifo()
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_text(pipe, "text")
        assert os.read(reader, 10) == b"text"
    finally:
        os.close(reader)


def test_our_own_output_is_gone_on_with(tmp_path: Path):
    """Tests that /dev/fd/N of a file adds to what was written there, and erases nothing."""
    with (tmp_path / "out").open("wb") as stream:
        stream.write(b"before ")
        stream.flush()
        for path in (f"/dev/fd/{stream.fileno()}", f"/proc/self/fd/{stream.fileno()}"):
            write_text(path, "text ")
        stream.write(b"after")
    assert (tmp_path / "out").read_bytes() == b"before text text after"


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="there is no /dev/zero here")
def test_what_never_ends_is_not_read(tmp_path: Path):
    """Tests that devices and pipes are refused before a byte of them is read."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InvalidInstance, match="pipe: is a pipe, not a file"):
        read_text(tmp_path / "pipe")
    with pytest.raises(InvalidInstance, match="/dev/zero: is a device, not a file"):
        read_text("/dev/zero")
    with pytest.raises(InvalidInstance, match="cannot be read: Is a directory"):
        read_text(tmp_path)
    for path, what in ((tmp_path / "pipe", "pipe"), ("/dev/zero", "device")):
        with (
            pytest.raises(InvalidInstance, match=f"is a {what}, not a file"),
            open_text(path) as text,
        ):
            text.read(1)


@pytest.mark.parametrize(
    ("data", "rule"),
    [
        (None, "cannot be read: No such file"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "Git-LFS pointer"),
        (b"\xff\xfe", r"not UTF-8 text \(byte 0\)"),
    ],
)
def test_a_file_that_is_no_text_is_refused(tmp_path: Path, data: bytes | None, rule: str):
    """Tests that a missing file, a Git-LFS pointer and bytes that are no text are named."""
    path = tmp_path / "in.json"
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(InvalidInstance, match=rule) as caught:
        read_text(path)
    assert caught.value.path == str(path)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("", "is not JSON: Expecting value"),
        ('{"a": [1, 2', r"is not JSON: .* \(line 1, column 12\)"),
        ("[1] x", "is not JSON: Extra data"),
        ("[NaN]", "holds NaN; numbers must be finite"),
        ("[-Infinity]", "holds -Infinity"),
        ('{"a": 1, "b": 2, "a": 3}', "has the key 'a' twice"),
        ("[1." + "0" * 20_000 + "]", "holds a number of 20002 characters"),
        ("[" * 200_000, "nested too deeply"),
    ],
)
def test_text_that_is_no_json_is_refused(tmp_path: Path, text: str, rule: str):
    """Tests that each way of not being strict JSON is named."""
    path = tmp_path / "in.json"
    path.write_text(text)
    with pytest.raises(InvalidInstance, match=rule):
        read_json(path)


def test_numbers_stay_what_is_written(tmp_path: Path):
    """Tests that 0.1 is read as the decimal and that a very long integer is no crash."""
    path = tmp_path / "in.json"
    path.write_text(f"[0.1, 7, {'9' * 5000}]")
    tenth, seven, long = read_json(path)  # type: ignore[misc]
    assert str(tenth) == "0.1"
    assert seven == 7
    assert str(long) == "9" * 5000
