"""The allocator kit as users run it: pytest in another process, in an empty folder."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given

from hived_cells import Chain, Reservation, parse_spec
from hived_cells.cli import main
from hived_cells.reservation import Pool
from hived_cells.testing import pools
from hived_cells.testing.files import spec_text
from hived_cells.testing.plugin import allocator

ROOT = Path(__file__).resolve().parents[2]
KIT = "hived_cells.testing.conformance"
RULES = {"no quota check": "quota", "lost child": "conservation"}


def run(folder, *arguments):
    """Run the kit in a folder; give the exit code and all that is printed."""
    command = [sys.executable, "-W", "error", "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    plugins = ["-p", "hived_cells.testing.plugin", "-p", "synergy_opt.testing.plugin"]
    done = subprocess.run(
        [*command, *plugins, "--pyargs", KIT, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("fault", RULES)
def test_a_faulty_allocator_is_named_and_its_run_saved(fault, tmp_path, capsys):
    """Tests one sentence that names the rule, and files that our own replay carries out."""
    (tmp_path / "mine.py").write_text(
        "from hived_cells.testing.planted import ListAllocator\n"
        f"class Mine(ListAllocator):\n    def __init__(self): super().__init__({fault!r})\n"
    )
    code, printed = run(tmp_path, "--allocator", "mine:Mine", "--examples", "100")
    assert code == 1, printed
    assert f"\n{RULES[fault]}: " in printed
    assert "Traceback" not in printed
    cluster = tmp_path / "conformance" / "allocator-cluster.yaml"
    events = tmp_path / "conformance" / "allocator-events.jsonl"
    assert f"cluster: {cluster}" in printed
    assert f"events: {events}" in printed
    assert main(["replay", str(cluster), str(events)]) == 0
    outcomes = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    refused = [each["outcome"] == "refused" for each in outcomes]
    assert refused[-1] == (fault == "no quota check")


def test_a_sound_allocator_passes(tmp_path):
    """Tests exit code 0, and that nothing is left behind."""
    name = "hived_cells.testing.planted:ListAllocator"
    code, printed = run(tmp_path, "--allocator", name, "--examples", "10")
    assert code == 0, printed
    assert not (tmp_path / "conformance").exists()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], f"{KIT} needs --allocator module:Name"),
        (["--allocator", "hived_cells"], "TypeError: must be module:Name"),
        (["--allocator", "fractions:Fraction"], "TypeError: has no function 'initial'"),
        (["--allocator", "no_such:Name"], "No module named 'no_such'"),
    ],
)
def test_a_wrong_name_is_one_message(arguments, says, tmp_path):
    """Tests usage errors: exit code 4 of pytest, one line, no traceback."""
    code, printed = run(tmp_path, *arguments)
    assert code == 4
    assert says in printed
    assert "Traceback" not in printed


@given(pools(max_gpus=16))
def test_a_pool_as_a_specification_is_read_back(pool):
    """Tests that the written specification means the pool, where tenants reserve anything."""
    owned = {tenant: dict(counts) for tenant, counts in pool.reservation.cells if counts}
    chain = pool.chain if pool.chain.levels > 1 else Chain(pool.chain.gpus, (1,))
    (found,) = parse_spec(spec_text(pool)).pools
    assert found.pool == Pool(chain, Reservation(owned))


def test_objects_and_classes_are_allocators():
    """Tests that a class is called, and an object taken as it is."""
    assert allocator("hived_cells.testing.planted:ListAllocator").fault == ""
