"""The kit as users run it: pytest in another process, in an empty folder."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from synergy_opt.cli import main
from synergy_opt.testing.examples import WRONG

ROOT = Path(__file__).resolve().parents[3]
KIT = "synergy_opt.testing.conformance"
VERIFIED = {"overcommits", "disproportionate", "below_the_floor", "wrong_throughput"}


def run(folder: Path, *arguments: str, mechanism: str | None) -> tuple[int, str]:
    """Run the kit in a folder; give the exit code and all that is printed."""
    named = [] if mechanism is None else ["--mechanism", mechanism]
    command = [sys.executable, "-W", "error", "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    plugin = ["-p", "synergy_opt.testing.plugin", "-p", "no:randomly"]
    done = subprocess.run(
        [*command, *plugin, "--pyargs", KIT, *named, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("name", WRONG)
def test_each_wrong_example_is_named_and_saved(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    """Tests the sentence, the saved files, and that `verify` rejects them where it judges."""
    what = WRONG[name]
    rule = "deterministic" if what == "another-process" else what
    which = "another_process" if what == "another-process" else f"[{rule}]"
    mechanism = f"synergy_opt.testing.examples:{name}"
    code, printed = run(tmp_path, "-k", which, "--examples", "60", mechanism=mechanism)
    assert code == 1, printed
    assert len(re.findall(f"^{rule}: .*$", printed, re.MULTILINE)) == 1, printed
    assert "Traceback" not in printed
    assert "hypothesis" not in printed.lower()
    instance = tmp_path / "conformance" / f"{what}-instance.json"
    placement = tmp_path / "conformance" / f"{what}-placement.json"
    assert f"instance: {instance}" in printed
    assert instance.read_text("utf-8").splitlines()[0] in printed
    if name in VERIFIED:
        assert main(["verify", str(instance), str(placement)]) == 1
        assert f"{rule}: " in capsys.readouterr().out
    elif name == "ignores_priority":  # to leave jobs out is not what verify judges
        assert main(["verify", str(instance), str(placement)]) == 0


def test_a_sound_heuristic_passes_and_is_measured(tmp_path: Path):
    """Tests exit code 0, the table, and that nothing is left behind; in two processes at that."""
    mechanism = "synergy_opt.testing.examples:raise_in_order"
    few = ("-k", "mix-2-4 or another or [pure] or [capacity]", "--examples", "5", "-n", "2")
    code, printed = run(tmp_path, *few, mechanism=mechanism)
    assert code == 0, printed
    assert f"{mechanism}: distance from the best that is possible" in printed
    row = next(line for line in printed.splitlines() if line.startswith("mix-2-4"))
    assert row.split()[-4:] == ["1", "1.2505", "0", "0"]
    assert not (tmp_path / "conformance").exists()


def test_a_file_of_ones_own_that_leaves_jobs_out(tmp_path: Path):
    """Tests the how-to's first_fit.py by its path: it passes where skipping is allowed only."""
    own = tmp_path / "first_fit.py"
    own.write_text((ROOT / "docs" / "tutorials" / "first_fit.py").read_text("utf-8"))
    few = ("--examples", "20", "-k", "keeps and (placed or priority or capacity)")
    code, printed = run(tmp_path, *few, mechanism="first_fit.py:first_fit")
    assert code == 1
    assert re.search(r"^placed: job '.*' \(\d+ GPUs\) is runnable, but left out$", printed, re.M)
    assert "1 failed" in printed
    saved = sorted(path.name for path in (tmp_path / "conformance").iterdir())
    assert saved == ["placed-instance.json", "placed-placement.json"]
    code, printed = run(tmp_path, *few, "--allow", "skipping", mechanism="first_fit.py:first_fit")
    assert code == 0, printed
    assert "1 skipped" in printed


def test_saved_files_of_an_earlier_run_go_with_the_fault(tmp_path: Path):
    """Tests that a rule that is kept again leaves no file that says otherwise."""
    old = tmp_path / "conformance" / "capacity-instance.json"
    old.parent.mkdir()
    old.write_text("{}")
    code, _ = run(tmp_path, "--examples", "2", "-k", "[capacity]", mechanism="synergy_opt:tune")
    assert code == 0
    assert not old.exists()


@pytest.mark.parametrize(
    ("mechanism", "says"),
    [
        (None, f"{KIT} needs --mechanism module:function"),
        ("tune", "--mechanism tune: must be module:function or file.py:function"),
        ("no_such:f", "no no_such.py in"),
        ("synergy_opt:no_such", "there is no 'no_such' in synergy_opt"),
        ("synergy_opt.model:Vector.x", "there is no 'x' in synergy_opt.model"),
        ("synergy_opt:__version__", "is str, not a function"),
    ],
)
def test_a_wrong_name_is_one_message(mechanism: str | None, says: str, tmp_path: Path):
    """Tests usage errors: exit code 4 of pytest, one line, no traceback."""
    code, printed = run(tmp_path, mechanism=mechanism)
    assert code == 4
    assert says in printed
    assert "Traceback" not in printed


def test_a_module_that_ends_and_no_examples_are_one_message(tmp_path: Path):
    """Tests a module that calls `sys.exit`, and a number of examples that shows nothing."""
    (tmp_path / "ends.py").write_text("import sys\nsys.exit(0)\n")
    code, printed = run(tmp_path, mechanism="ends.py:f")
    assert code == 4
    assert "--mechanism ends.py:f: cannot be imported: SystemExit: 0" in printed
    code, printed = run(tmp_path, "--examples", "0", mechanism="synergy_opt:tune")
    assert code == 4
    assert "--examples 0: must be at least 1" in printed


def test_a_mechanism_that_ends_the_other_process_is_told_of(tmp_path: Path):
    """Tests that a mechanism which kills its process there gives a sentence here."""
    (tmp_path / "mine.py").write_text(
        "import os, synergy_opt\n"
        "def mine(instance):\n"
        "    if os.environ.get('PYTHONHASHSEED') in ('0', '1'):\n"
        "        os._exit(7)\n"
        "    return synergy_opt.tune(instance)\n"
    )
    os.environ.pop("PYTHONHASHSEED", None)
    code, printed = run(tmp_path, "--examples", "2", "-k", "another", mechanism="mine:mine")
    assert code == 1
    assert "its process ended with 7" in printed
