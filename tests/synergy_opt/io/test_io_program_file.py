"""MPS and LP files: another reader finds the same programme in them."""

import json
import math
from pathlib import Path

import highspy
import numpy as np
import pytest

from synergy_opt import ideal_allocation, mix, shipped, shipped_names
from synergy_opt.cli import main
from synergy_opt.ideal import stage_1_program
from synergy_opt.io.program_file import lp_text, mps_text
from synergy_opt.placement import stage_2_program
from synergy_opt.program import Program
from synergy_opt.solution import Limits
from synergy_opt.solvers import solver


def optimum_of(path: Path) -> tuple[float, int, int]:
    """Let HiGHS read and solve a file; give the optimum, rows and columns."""
    model = highspy.Highs()
    model.silent()
    assert model.readModel(str(path)) == highspy.HighsStatus.kOk
    model.run()
    assert model.getModelStatus() == highspy.HighsModelStatus.kOptimal
    return model.getInfo().objective_function_value, model.numConstrs, model.numVariables


@pytest.mark.parametrize("name", shipped_names())
@pytest.mark.parametrize("ending", ["mps", "lp"])
def test_another_reader_finds_the_optimum(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, ending: str
):
    """Tests that stage 1's file, solved elsewhere, has the optimum that we certify."""
    path = tmp_path / f"stage-1.{ending}"
    argv = ["export", name, "--stage", "1", "--format", ending]
    assert main([*argv, "--output", str(path)]) == 0
    assert "rows" in capsys.readouterr().out
    expected = float(ideal_allocation(shipped(name)).throughput)
    assert optimum_of(path)[0] == pytest.approx(expected, rel=1e-9)
    assert main(argv) == 0
    assert capsys.readouterr().out == path.read_text()
    assert main([*argv, "--linear", "--json"]) == 0
    text = json.loads(capsys.readouterr().out)["text"]
    assert ("General" in text or "INTORG" in text) is False
    path.write_text(text)
    assert optimum_of(path)[0] >= expected - 1e-9


@pytest.mark.parametrize("write", [mps_text, lp_text])
def test_stage_2_is_the_same_programme_in_a_file(tmp_path: Path, write):
    """Tests that stage 2's file has the rows, columns and optimum of the programme."""
    instance = mix(servers=3, seed=1)
    program = stage_2_program(instance, ideal_allocation(instance))
    path = tmp_path / ("a.mps" if write is mps_text else "a.lp")
    path.write_text(write(program))
    found = solver("highs")(program, Limits())
    assert found.objective is not None
    optimum, rows, columns = optimum_of(path)
    assert optimum == pytest.approx(found.objective, abs=1e-7)
    assert (rows, columns) == program.shape


@pytest.mark.parametrize("write", [mps_text, lp_text])
def test_ranges_free_rows_bounds_and_odd_names_are_written(tmp_path: Path, write):
    """Tests every kind of row and bound, and names that no file can hold."""
    program = Program(
        name="a name",
        cost=np.array([1.0, -0.1, 0.0]),
        starts=np.array([0, 2, 3, 4, 5, 5], dtype=np.int64),
        index=np.array([0, 1, 0, 1, 0], dtype=np.int64),
        value=np.array([1.0, 1.0, 1.0, 1.0, 1.0]),
        row_lower=np.array([-2.0, -math.inf, 0.25, -math.inf, -math.inf]),
        row_upper=np.array([3.5, 9.0, math.inf, math.inf, 0.0]),
        lower=np.array([-1.0, 0.0, 0.0]),
        upper=np.array([math.inf, 7.0, 1.0]),
        integral=np.array([False, True, False]),
        row_names=("range", "zwei wörter", "gain", "free", "empty"),
        column_names=("x", "x", "3"),
    )
    path = tmp_path / ("a.mps" if write is mps_text else "a.lp")
    path.write_text(write(program))
    # x + y ≤ 3.5 and y ≥ 1, a whole number: x = 2.5, y = 1.
    optimum, _, columns = optimum_of(path)
    assert optimum == pytest.approx(2.4)
    assert columns == 3


@pytest.mark.parametrize("write", [mps_text, lp_text])
def test_a_file_says_in_a_comment_that_it_is_to_be_maximised(write):
    """Tests what readers that pass over OBJSENSE leave to people: the sense, and the names."""
    text = write(stage_1_program(shipped("worked-example")))
    comments = [line for line in text.splitlines() if line.startswith(("*", "\\"))]
    assert any("worked-example-stage-1: 6 rows, " in line for line in comments)
    assert any("MAXIMISED" in line for line in comments)
    assert any("u_T_P" in line for line in comments)
