"""A message that quotes its input says what is there and moves no terminal."""

from __future__ import annotations

from pathlib import Path

from synergy_opt.cli import main


def test_what_a_terminal_would_obey_is_spelt_out(tmp_path: Path, capsys):
    path = tmp_path / "trace.csv"
    path.write_text("id,submitted,duration,gpus,profile\na,0,60,1,\x1b[2J\u202eé\n")
    assert main(["simulate", "--trace", f"{path}"]) == 2
    error = capsys.readouterr().err
    assert "\x1b" not in error and "\u202e" not in error
    assert "\\x1b[2J" in error and "\\u202e" in error and "é" in error
    assert main(["simulate", "--jobs", "\x1b[2J"]) == 2
    assert "\x1b" not in capsys.readouterr().err
