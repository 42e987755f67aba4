"""A sweep does each case once, keeps it at once, and gives the same on any number of processes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from synergy_opt.errors import InvalidInstance
from synergy_opt.sweep import sweep

CASES = {f"case-{n}": n for n in range(5)}


def square(number):
    """Give a document; of this module, so that other processes find it."""
    return {"number": number, "square": number * number}


def never(number):
    raise AssertionError(f"{number} is done already")


def test_documents_come_in_the_order_of_the_cases(tmp_path: Path):
    done = []
    found = sweep(CASES, square, folder=tmp_path, progress=done.append)
    assert [document["number"] for document in found] == list(range(5))
    assert done == [0, 1, 2, 3, 4, 5]
    assert json.loads((tmp_path / "case-3.json").read_text()) == {"number": 3, "square": 9}


def test_what_is_kept_is_not_done_again(tmp_path: Path):
    first = sweep(CASES, square, folder=tmp_path)
    assert sweep(CASES, never, folder=tmp_path) == first


def test_a_killed_sweep_loses_the_run_in_hand_alone(tmp_path: Path):
    def killed(number):
        if number == 3:
            raise KeyboardInterrupt
        return square(number)

    with pytest.raises(KeyboardInterrupt):
        sweep(CASES, killed, folder=tmp_path)
    assert sorted(path.stem for path in tmp_path.iterdir()) == ["case-0", "case-1", "case-2"]
    again = []

    def counted(number):
        again.append(number)
        return square(number)

    assert len(sweep(CASES, counted, folder=tmp_path)) == 5
    assert again == [3, 4]


def test_processes_give_the_same_bytes(tmp_path: Path):
    one, four = tmp_path / "one", tmp_path / "four"
    for folder in (one, four):
        folder.mkdir()
    assert sweep(CASES, square, folder=one) == sweep(CASES, square, folder=four, workers=4)
    for name in CASES:
        assert (one / f"{name}.json").read_bytes() == (four / f"{name}.json").read_bytes()


def test_nothing_is_kept_without_a_folder(tmp_path: Path):
    assert len(sweep(CASES, square)) == 5
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_no_document_is_named(tmp_path: Path):
    (tmp_path / "case-0.json").write_text("[]")
    with pytest.raises(InvalidInstance, match=r"case-0.json: is no document"):
        sweep(CASES, square, folder=tmp_path)


@pytest.mark.parametrize(("backend", "module"), [("dask", "distributed"), ("ray", "ray")])
def test_a_backend_that_is_not_installed_is_named(monkeypatch, backend, module):
    monkeypatch.setitem(__import__("sys").modules, module, None)
    with pytest.raises(InvalidInstance, match=f"{backend} is not installed"):
        sweep(CASES, square, backend=backend)


def test_local_processes_have_no_address():
    with pytest.raises(InvalidInstance, match="no address"):
        sweep(CASES, square, workers=2, address="tcp://here:1")
