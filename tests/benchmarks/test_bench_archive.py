"""Every bound of the archive is what its certificate proves; a planted fault is named."""

import argparse
import json
import lzma
import shutil
from dataclasses import replace

import pytest

from benchmarks.__main__ import main
from benchmarks.archive.records import ARCHIVE, difficulty, read_archive, write_archive
from benchmarks.archive.update import run as update
from benchmarks.archive.verify import faults
from benchmarks.rows import answers, read_results


def only(path, *patterns):
    """Run verify-archive; give its exit code."""
    return main(["verify-archive", "--archive", str(path), "--only", *(patterns or ("*",))])


def test_the_small_part_of_the_archive_holds():
    """Tests the shipped archive where the clusters are small; the command checks all of it."""
    assert only(ARCHIVE, "*-2-?", "*-3-?", "mix-*-4-0", "groups-4-0", "widest-gap-10") == 0


def test_a_check_of_nothing_is_bad_input(capsys):
    """Tests that a pattern which fits no entry does not pass for a check."""
    assert only(ARCHIVE, "mix-20-5-*") == 2
    assert "--only mix-20-5-*: fits no entry" in capsys.readouterr().err


def test_a_fresh_archive_holds(archive, capsys):
    """Tests what update-archive writes, and that synergy-opt itself accepts a certificate."""
    from benchmarks.instances.catalog import STORED
    from synergy_opt.cli import main as synergy_opt

    assert only(archive) == 0
    assert "9 entries hold" in capsys.readouterr().out
    entry = next(e for e in read_archive(archive) if e.instance == "triplets-3-0")
    assert (entry.lower.value, entry.upper.value, entry.difficulty) == ("18", "18", "toy")
    certificate = archive.parent / entry.upper.certificate
    assert synergy_opt(["verify", str(STORED / "triplets-3-0.json"), str(certificate)]) == 0


def changed(archive, at, **fields):
    """Change a record of the archive's entry; give what verify-archive says of it."""
    entries = read_archive(archive)
    number, side = at
    record = replace(getattr(entries[number], side), **fields)
    entries[number] = replace(entries[number], **{side: record})
    write_archive(entries, archive)
    return list(faults(read_archive(archive), archive)), entries[number].name


@pytest.mark.parametrize("side", ["lower", "upper"])
def test_a_changed_value_is_caught(archive, side, capsys):
    """Tests a bound that is better than its certificate by the least bit."""
    old = getattr(read_archive(archive)[0], side).exactly
    found, name = changed(archive, (0, side), value=f"{old.numerator + 1}/{old.denominator}")
    assert any(text.startswith(f"{name}: {side}: states") for text in found)
    assert only(archive) == 1
    assert name in capsys.readouterr().out


def test_a_certificate_of_another_instance_is_caught(archive):
    """Tests a record that points to a valid certificate of something else."""
    other = read_archive(archive)[-1].lower
    found, name = changed(
        archive, (0, "lower"), certificate=other.certificate, sha256=other.sha256
    )
    assert len(found) == 1
    assert found[0].startswith(f"{name}: lower: ")
    assert "the placement is for" in found[0]


def test_a_certificate_of_another_problem_is_caught(archive):
    """Tests an upper bound for whole jobs that is stated for divided ones."""
    entries = {(e.instance, e.problem): e for e in read_archive(archive)}
    whole, split = (entries["widest-gap-10", p] for p in ("whole", "split"))
    assert whole.upper.exactly < split.upper.exactly  # pattern prices against multipliers
    wrong = replace(split, upper=whole.upper)
    assert any("not for the problem 'split'" in text for text in faults([wrong], archive))


def test_a_wrong_checksum_is_caught(archive):
    """Tests the record's checksum, and a certificate changed under it."""
    found, name = changed(archive, (0, "lower"), sha256="0" * 64)
    assert found[0].startswith(f"{name}: lower: ")
    assert "checksum" in found[0]


def test_a_changed_certificate_is_caught(archive):
    """Tests one digit of a certificate file."""
    entry = read_archive(archive)[0]
    path = archive.parent / entry.lower.certificate
    text = path.read_text("utf-8")
    path.write_text(text.replace('"gpus":"1"', '"gpus":"2"', 1), "utf-8")
    assert any("checksum" in text for text in faults([entry], archive))


def test_a_missing_certificate_a_wrong_class_and_a_double_are_caught(archive):
    """Tests what else an entry can get wrong."""
    entry = read_archive(archive)[0]
    twice = list(faults([entry, entry], archive))
    assert twice == [f"{entry.name}: stands twice in the archive"]
    wrong = replace(entry, difficulty="hard")
    assert any("is called hard" in text for text in faults([wrong], archive))
    wrong = replace(entry, sha256="0" * 64)
    assert any("checksum is not that of the catalogue" in t for t in faults([wrong], archive))
    (archive.parent / entry.lower.certificate).unlink()
    assert any("cannot be read" in text for text in faults([entry], archive))


def test_a_lower_bound_above_the_upper_is_caught(archive):
    """Tests that both together are looked at."""
    entry = read_archive(archive)[0]
    crossed = replace(entry, lower=replace(entry.lower, value="1000"))
    assert any("is above the upper bound" in text for text in faults([crossed], archive))


def test_the_class_follows_from_the_proof_time(archive):
    """Tests the limits of the classes, and that an open gap is open."""
    entry = next(e for e in read_archive(archive) if e.instance == "triplets-3-0")
    for seconds, name in ((60, "toy"), (61, "easy"), (601, "medium"), (3601, "hard")):
        assert difficulty(entry.lower, replace(entry.upper, seconds=seconds)) == name
    assert difficulty(entry.lower, replace(entry.upper, value="19")) == "open"
    assert difficulty(entry.lower, None) == "open"


def test_an_update_never_makes_a_bound_worse(archive, results, tmp_path):
    """Tests that rows of a weaker method, or the same ones again, change nothing."""
    before = archive.read_bytes()
    weak = tmp_path / "weak.jsonl"
    rows = [row for row in read_results(results) if row["method"] == "proportional"]
    weak.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    shutil.copytree(answers(results), answers(weak))
    assert update(argparse.Namespace(results=weak, archive=archive)) == 0
    assert update(argparse.Namespace(results=results, archive=archive)) == 0
    assert archive.read_bytes() == before


def test_an_update_improves_a_worse_bound(archive, results):
    """Tests that a better bound replaces a worse one, with its certificate."""
    entries = read_archive(archive)
    at = next(k for k, e in enumerate(entries) if e.instance == "triplets-3-0")
    good = entries[at].lower
    entries[at] = replace(entries[at], lower=replace(good, value="9", method="old"))
    write_archive(entries, archive)
    assert only(archive) == 1
    assert update(argparse.Namespace(results=results, archive=archive)) == 0
    assert only(archive) == 0
    assert read_archive(archive)[at].lower == good


def test_an_update_refuses_a_forged_answer(archive, results, tmp_path, capsys):
    """Tests that a row's own words are not believed: its answer is verified again."""
    forged = tmp_path / "forged.jsonl"
    answers(forged).mkdir()
    row = next(r for r in read_results(results) if r["method"] == "packed")
    data = json.loads(
        lzma.decompress((answers(results) / f"{row['answer']}.json.xz").read_bytes())
    )
    data["jobs"][0]["throughput"] = "1000"
    data["throughput"] = "1009"
    from hashlib import sha256

    text = json.dumps(data).encode()
    row |= {"answer": sha256(text).hexdigest(), "throughput": "1009", "certified": True}
    (answers(forged) / f"{row['answer']}.json.xz").write_bytes(lzma.compress(text))
    forged.write_text(json.dumps(row) + "\n", "utf-8")
    before = archive.read_bytes()
    assert update(argparse.Namespace(results=forged, archive=archive)) == 1
    assert "not certified" in capsys.readouterr().out
    assert archive.read_bytes() == before


def test_a_malformed_archive_is_bad_input(tmp_path, capsys):
    """Tests that the message names file and place, with exit code 2."""
    path = tmp_path / "best_known.json"
    path.write_text('{"schema": "synergy-hived/best-known/1", "entries": [{"instance": 3}]}')
    assert only(path) == 2
    assert "$.entries[0]" in capsys.readouterr().err
