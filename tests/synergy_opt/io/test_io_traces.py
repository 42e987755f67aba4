"""Public traces: the Philly CSV and job log, the openb pods; right, or refused with the place."""

import gzip
import json
from fractions import Fraction
from pathlib import Path

import pytest

from synergy_opt.errors import InvalidInstance
from synergy_opt.io import read_openb_pods, read_philly_csv, read_philly_log
from synergy_opt.profiling.cache_model import MODELS

CSV = """timestamp,duration,num_gpus,gpu_time,cluster
2017-10-09 07:01:55,66.5,1,66.5,c
2017-10-09 06:13:03,2951.0,2,5902.0,c
2017-10-09 06:13:03,0.0,1,0.0,c
2017-10-09 08:00:00,10,32,320,c
2017-10-09 08:00:00,10,0,0,c
"""
LOG = [
    {
        "status": "Pass",
        "vc": "v",
        "jobid": "second",
        "user": "u",
        "submitted_time": "2017-10-09 07:02:00",
        "attempts": [
            {
                "start_time": "2017-10-09 07:03:00",
                "end_time": "2017-10-09 07:04:00",
                "detail": [{"ip": "m1", "gpus": ["g0", "g1"]}],
            },
            {
                "start_time": "2017-10-09 08:00:00",
                "end_time": "2017-10-09 08:00:30",
                "detail": [{"ip": "m1", "gpus": ["g0"]}, {"ip": "m2", "gpus": ["g0", "g3"]}],
            },
        ],
    },
    {
        "jobid": "first",
        "submitted_time": "2017-10-09 07:01:00",
        "attempts": [
            {
                "start_time": "2017-10-09 07:01:00",
                "end_time": "2017-10-09 07:02:00",
                "detail": [{"ip": "m1", "gpus": ["g0"]}],
            }
        ],
    },
    {"jobid": "never", "submitted_time": "2017-10-09 07:01:00", "attempts": []},
    {
        "jobid": "unfinished",
        "submitted_time": "2017-10-09 07:01:00",
        "attempts": [
            {"start_time": "None", "end_time": None, "detail": [{"ip": "m", "gpus": ["g"]}]}
        ],
    },
    {
        "jobid": "no-gpu",
        "submitted_time": "2017-10-09 07:01:00",
        "attempts": [{"start_time": None, "end_time": None, "detail": []}],
    },
]
PODS = """name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,\
deletion_time,scheduled_time
a,1000,1024,1,1000,,LS,Running,50,90,60
b,1000,1024,8,1000,,BE,Succeeded,20,90,30
c,1000,1024,1,500,,LS,Running,0,90,0
d,1000,1024,0,0,,LS,Running,0,90,0
e,1000,1024,1,1000,,LS,Pending,0,90,
f,1000,1024,1,1000,,LS,Failed,0,90,90
"""


def lines(found):
    """Give the jobs as tuples."""
    return [(j.id, j.submitted, j.duration, j.gpus) for j in found.workload.jobs]


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("packed", [False, True])
def test_the_philly_csv_is_sorted_and_counted(tmp_path: Path, ending: str, packed: bool):
    """Tests order, origin, exact durations, and what is left out."""
    path = tmp_path / "philly.csv"
    data = CSV.replace("\n", ending).encode()
    path.write_bytes(gzip.compress(data) if packed else data)
    found = read_philly_csv(path, most_gpus=16)
    assert lines(found) == [
        ("line-3", 0, 2951, 2),
        ("line-2", 48 * 60 + 52, Fraction(133, 2), 1),
    ]
    assert found.skipped == {"that took no time": 1, "above 16 GPUs": 1, "without a GPU": 1}
    assert "2 jobs; left out: 1 that took no time, 1 above 16 GPUs, 1 without a GPU" in str(found)
    assert len(read_philly_csv(path).workload.jobs) == 3


def test_the_job_log_sums_attempts_and_takes_the_most_gpus(tmp_path: Path):
    """Tests the original format: attempts, GPUs on several machines, null and "None" times."""
    path = tmp_path / "cluster_job_log"
    path.write_text(json.dumps(LOG))
    found = read_philly_log(path)
    assert lines(found) == [("first", 0, 60, 1), ("second", 60, 90, 3)]
    assert found.skipped == {
        "without an attempt": 1,
        "that took no time": 1,
        "without a GPU": 1,
    }
    path.write_bytes(gzip.compress(path.read_bytes()))
    assert read_philly_log(path) == found


def test_openb_pods_last_from_scheduled_to_deleted(tmp_path: Path):
    """Tests submission, duration, order, and pods that are no jobs."""
    path = tmp_path / "pods.csv"
    path.write_text(PODS)
    found = read_openb_pods(path)
    assert lines(found) == [("b", 0, 60, 8), ("a", 30, 30, 1)]
    assert found.skipped == {
        "with a part of a GPU": 1,
        "without a GPU": 1,
        "never scheduled or never deleted": 1,
        "gone at once": 1,
    }


def test_models_follow_the_split_and_do_not_depend_on_the_limit(tmp_path: Path):
    """Tests that leaving large jobs out gives the others the same models."""
    path = tmp_path / "philly.csv"
    rows = "".join(f"2017-10-09 07:01:55,5,{1 + i % 3}\n" for i in range(2000))
    path.write_text("timestamp,duration,num_gpus\n" + rows)
    all_jobs = {j.id: j.profile for j in read_philly_csv(path, seed=3).workload.jobs}
    small = {j.id: j.profile for j in read_philly_csv(path, seed=3, most_gpus=1).workload.jobs}
    assert len(small) == 667
    assert small.items() <= all_jobs.items()
    image = sum(MODELS[name].task == "image" for name in all_jobs.values())
    assert abs(image / 2000 - 0.2) < 0.03
    other = {j.id: j.profile for j in read_philly_csv(path, seed=4).workload.jobs}
    assert other != all_jobs


@pytest.mark.parametrize(
    ("old", "new", "place", "rule"),
    [
        ("07:01:55", "7h", "line 2, timestamp", "YYYY-MM-DD"),
        ("2017-10-09 07:01:55", "None", "line 2, timestamp", "not 'None'"),
        ("66.5,1", "-1,1", "line 2, duration", "must not be negative"),
        ("66.5,1", ",1", "line 2, duration", "must not be empty"),
        ("66.5,1,", "66.5,1.5,", "line 2, num_gpus", "whole number"),
        ("10,32,320,c", "10,32,320", "line 5", "has 4 cells"),
        ("duration", "length", "line 1", "'duration' is missing"),
    ],
)
def test_a_bad_philly_row_is_refused(tmp_path: Path, old: str, new: str, place: str, rule: str):
    """Tests one message with file, line and column."""
    path = tmp_path / "philly.csv"
    path.write_text(CSV.replace(old, new, 1))
    with pytest.raises(InvalidInstance, match=rule) as caught:
        read_philly_csv(path)
    assert caught.value.path == f"{path}: {place}"


def spoiled(*keys, value):
    """Give the log with one value replaced."""
    log = json.loads(json.dumps(LOG))
    target = log
    for key in keys[:-1]:
        target = target[key]
    target[keys[-1]] = value
    return json.dumps(log)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("[", "no Philly job log"),
        ("{}", r"Expected `array`"),
        (spoiled(1, "jobid", value=5), r"\$\[1\]\.jobid|\$\[\.\.\.\]\.jobid"),
        (spoiled(1, "attempts", value=None), "attempts"),
        (spoiled(1, "submitted_time", value="None"), r"\$\[1\]\.submitted_time: is missing"),
        (spoiled(1, "submitted_time", value="today"), r"\$\[1\]\.submitted_time: must be YYYY"),
        (spoiled(1, "jobid", value="second"), r"\$\[1\]\.jobid: 'second' occurs twice"),
        (
            spoiled(0, "attempts", 1, "end_time", value="2017-10-09 07:00:00"),
            r"\$\[0\]\.attempts\[1\]\.end_time: .* before the start",
        ),
        ("version https://git-lfs.github.com/spec/v1\n", "Git-LFS pointer"),
        ("[]", "has no job"),
    ],
)
def test_a_bad_log_is_refused_with_its_path(tmp_path: Path, text: str, rule: str):
    """Tests that no None reaches a subtraction, and no decoder's exception leaks out."""
    path = tmp_path / "cluster_job_log"
    path.write_text(text)
    with pytest.raises(InvalidInstance, match=rule):
        read_philly_log(path)


@pytest.mark.parametrize(
    ("old", "new", "place", "rule"),
    [
        ("50,90,60", "50,55,60", "line 2, deletion_time", "before scheduled_time"),
        ("50,90,60", "50,90,49", "line 2, scheduled_time", "before creation_time"),
        ("50,90,60", ",90,60", "line 2, creation_time", "must not be empty"),
        ("\nb,", "\na,", "line 3, name", "occurs twice"),
        ("1,1000,,LS,Running,50", "x,1000,,LS,Running,50", "line 2, num_gpu", "must be a number"),
    ],
)
def test_a_bad_pod_is_refused(tmp_path: Path, old: str, new: str, place: str, rule: str):
    """Tests one message with file, line and column."""
    path = tmp_path / "pods.csv"
    path.write_text(PODS.replace(old, new, 1))
    with pytest.raises(InvalidInstance, match=rule) as caught:
        read_openb_pods(path)
    assert caught.value.path == f"{path}: {place}"


def test_the_real_traces_are_read_whole(reference_data: Path):
    """Tests the published files: every line is either a job or counted."""
    philly = read_philly_csv(reference_data / "philly" / "philly_jobs.csv.gz", most_gpus=16)
    assert len(philly.workload.jobs) == 82_164
    assert philly.skipped == {"above 16 GPUs": 83}
    pods = read_openb_pods(reference_data / "openb" / "openb_pod_list_default.csv")
    assert len(pods.workload.jobs) + sum(pods.skipped.values()) == 8152
