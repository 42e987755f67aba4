"""The table of mutation testing counts a mutant as killed only where a test failed."""

import json

import pytest

from benchmarks.mutation import main


@pytest.fixture
def results(tmp_path):
    """Return a folder as mutmut makes it: killed, alive, untested, cut off and not run."""
    folder = tmp_path / "mutants" / "package"
    folder.mkdir(parents=True)
    codes = {"a_1": 1, "a_2": 0, "a_3": 33, "a_4": -24, "a_5": None, "a_6": 1}
    (folder / "a.py.meta").write_text(json.dumps({"exit_code_by_key": codes}))
    (folder / "empty.py.meta").write_text(json.dumps({"exit_code_by_key": {}}))
    return tmp_path / "mutants"


def test_only_a_failed_test_kills(results, capsys):
    """Tests that untested and cut-off mutants lower the share, and those not run do not."""
    assert main(["--results", str(results)]) == 0
    assert capsys.readouterr().out.splitlines()[2:] == [
        "| package/a.py | 6 | 5 | 2 | 1 | 2 | 40.0 |"
    ]


def test_a_sample_is_every_nth_name(results, capsys):
    """Tests the names that are given to mutmut."""
    assert main(["--every", "3", "--results", str(results), "package/a"]) == 0
    assert capsys.readouterr().out.split() == ["a_1", "a_4"]


@pytest.mark.parametrize("wrong", [["nothing/"], ["--every", "0"]])
def test_nothing_to_show_is_bad_input(results, wrong, capsys):
    """Tests that a prefix without modules and a step of 0 end with code 2."""
    with pytest.raises(SystemExit) as ended:
        main([*wrong, "--results", str(results)])
    assert ended.value.code == 2
    assert "no results of mutmut" in capsys.readouterr().err
