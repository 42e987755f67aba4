"""CSV files: profiles, jobs, servers and the openb lists, strict and with line numbers."""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

from synergy_opt.cli import main
from synergy_opt.errors import InvalidInstance
from synergy_opt.fair_share import fair_throughput
from synergy_opt.io import import_csv, import_openb, read_profiles, write_profiles
from synergy_opt.model import Profile
from synergy_opt.runnable import runnable

PROFILES = """profile,unit,per,cpu,memory,throughput
p,items/s,gpu,1,20,1
p,items/s,gpu,3,20,10/3
p,items/s,gpu,1,62.5,1
p,items/s,gpu,3,62.5,4
"""
JOBS = "id,gpus,profile,weight\na,1,p,\nb,2,p,0.5\n"
SERVERS = "type,count,gpus,cpu,memory\nn,2,8,24,500\n"


@pytest.fixture
def files(tmp_path: Path) -> Callable[..., tuple[Path, Path, Path]]:
    """Give a function that writes the three files."""

    def write(profiles: str = PROFILES, jobs: str = JOBS, servers: str = SERVERS):
        paths = tmp_path / "profiles.csv", tmp_path / "jobs.csv", tmp_path / "servers.csv"
        for path, text in zip(paths, (profiles, jobs, servers), strict=True):
            path.write_text(text)
        return paths

    return write


def test_three_files_make_an_instance(files):
    """Tests that profiles, jobs and servers are read exactly and in order."""
    instance = import_csv(*files(), name="mine", units={"cpu": "vCPU"})
    assert instance.name == "mine"
    assert instance.cluster.resources == (("cpu", "vCPU"), ("memory", "GB"))
    assert [(job.id, job.gpus, job.weight) for job in instance.jobs] == [
        ("a", 1, 1),
        ("b", 2, Fraction(1, 2)),
    ]
    assert instance.profiles[0].throughput[1, 0] == Fraction(10, 3)


def test_a_byte_order_mark_and_empty_lines_do_no_harm(files):
    """Tests that a file as a spreadsheet saves it is read."""
    plain = import_csv(*files())
    assert import_csv(*files(profiles="\ufeff" + PROFILES.replace("\n", "\r\n\r\n"))) == plain


BAD: list[tuple[str, str, str, str, str]] = [
    # file, old, new, place, words of the rule
    ("profiles", "profile,unit", "name,unit", "line 1", "the header must be"),
    ("profiles", "cpu,memory,t", "cpu,cpu,t", "line 1", "'cpu' occurs twice"),
    ("profiles", "gpu,3,20,10/3", "gpu,3,20", "line 3", "has 5 cells, but the header has 6"),
    ("profiles", "10/3", "", "line 3, throughput", "must not be empty"),
    ("profiles", "10/3", "ten", "line 3, throughput", "must be a number"),
    ("profiles", "10/3", "nan", "line 3, throughput", "must be finite"),
    ("profiles", "10/3", "-1", "line 3, throughput", "must not be negative"),
    ("profiles", "gpu,3,20,", "gpu,-3,20,", "line 3, cpu", "must not be negative"),
    ("profiles", "gpu,3,20,", "gpu,1,20,", "line 3", "already has a row for this grid point"),
    ("profiles", "gpu,3,20,", "gpu,4,20,", "line 5", "no row for cpu 3, memory 20"),
    ("profiles", "p,items/s,gpu,3,20", "p,s,gpu,3,20", "line 3, unit", "differs from line 2"),
    ("profiles", "p,items/s,gpu,3,20", ",items/s,gpu,3,20", "line 3, profile", "not be empty"),
    ("profiles", ",gpu,", ",node,", "line 2, per", "'gpu' or 'job', not 'node'"),
    ("profiles", PROFILES, "", "", "is empty"),
    ("profiles", PROFILES, PROFILES[:38], "", "holds no profile"),
    ("profiles", "p,items/s,gpu,3,20", 'p,"items,gpu,3,20', "line 5", "is not CSV"),
    ("profiles", PROFILES, "version https://git-lfs.github.com/spec/v1\n", "", "Git-LFS"),
    ("jobs", "id,gpus", "job,gpus", "line 1", "the column 'id' is missing"),
    ("jobs", "profile,weight", "profile,wait", "line 1", "unknown column 'wait'"),
    ("jobs", "b,2,p", "b,0,p", "line 3, gpus", "whole number of at least 1, not 0"),
    ("jobs", "b,2,p", "b,2.5,p", "line 3, gpus", "whole number of at least 1, not 2.5"),
    ("jobs", "b,2,p", "b,99,p", "line 3, gpus", "the cluster has 16 GPUs"),
    ("jobs", "b,2,p", "a,2,p", "line 3, id", "'a' is the id of an earlier job"),
    ("jobs", "b,2,p", "b,2,q", "line 3, profile", "no profile 'q'"),
    ("jobs", "0.5", "0", "line 3, weight", "must be above 0"),
    ("servers", "cpu,memory", "cpu,disk", "line 1", "the column 'memory' is missing"),
    ("servers", "24,500", "0,500", "line 2, cpu", "above 0, not 0"),
    ("servers", "n,2,8", "n,2,0", "line 2, gpus", "at least 1"),
    ("servers", "n,2,8,24,500\n", "", "", "has no servers"),
    ("servers", "24,500", "2,500", "line 2", "no configuration inside its fair share"),
]


@pytest.mark.parametrize(("which", "old", "new", "place", "rule"), BAD)
def test_a_bad_row_is_refused_with_file_and_line(
    files,
    capsys: pytest.CaptureFixture[str],
    which: str,
    old: str,
    new: str,
    place: str,
    rule: str,
):
    """Tests that each fault of a CSV file is named with file, line, column and rule."""
    good = {"profiles": PROFILES, "jobs": JOBS, "servers": SERVERS}
    assert old in good[which]
    paths = files(**{which: good[which].replace(old, new)})
    assert main(["import", "csv", *map(str, paths)]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    # A job outside its share is named at the job, whichever file is to blame.
    named = "jobs" if "fair share" in rule else which
    assert f"{named}.csv: {place}" in captured.err
    assert rule in captured.err


def test_a_resource_named_like_a_column_is_not_written(tmp_path: Path):
    """Tests that profiles that CSV cannot hold are refused and leave no file."""
    profile = Profile(name="p", axes={"unit": [1]}, throughput=[1])
    with pytest.raises(InvalidInstance, match="'unit' cannot be a column"):
        write_profiles([profile], tmp_path / "p.csv")
    assert list(tmp_path.iterdir()) == []


def test_one_resource_and_three_are_read(tmp_path: Path):
    """Tests that any number of resources can be columns."""
    path = tmp_path / "p.csv"
    path.write_text("profile,unit,per,cpu,throughput\np,,job,2,5\np,,job,1,4\n")
    (one,) = read_profiles(path)
    assert one.throughput.tolist() == [4, 5]
    assert one.per == "job"


NODES = """sn,cpu_milli,memory_mib,gpu,model
n0,96000,393216,8,G2
n1,64000,262144,2,P100
n2,96000,393216,8,G2
n3,32000,65536,0,
"""
PODS = """name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,creation_time
late,12000,49152,1,1000,,30
part,6000,12288,1,460,,10
none,6000,12288,0,0,,10
first,48000,98304,2,1000,P100|G2,0
other,6000,12288,1,1000,P100,0
free,0,0,1,1000,,20
"""


@pytest.fixture
def lists(tmp_path: Path) -> Callable[..., tuple[Path, Path]]:
    """Give a function that writes the two lists."""

    def write(nodes: str = NODES, pods: str = PODS):
        paths = tmp_path / "nodes.csv", tmp_path / "pods.csv"
        for path, text in zip(paths, (nodes, pods), strict=True):
            path.write_text(text)
        return paths

    return write


def test_whole_gpu_pods_become_jobs_in_order_of_creation(lists):
    """Tests which pods are taken, in which order, and what their requests become."""
    instance = import_openb(*lists(), model="G2")
    (group,) = instance.cluster.servers
    assert (group.count, group.gpus, group.capacity) == (2, 8, (96, 384))
    assert [(job.id, job.gpus) for job in instance.jobs] == [
        ("first", 2),
        ("free", 1),
        ("late", 1),
    ]
    # 24 cores a GPU are asked for where the share is 12: half the speed with the share.
    assert fair_throughput(instance, instance.jobs[0]) == Fraction(1, 2)
    assert fair_throughput(instance, instance.jobs[1]) == 1
    assert fair_throughput(instance, instance.jobs[2]) == 1
    cpu = dict(instance.profile_of[instance.jobs[0].profile].axes)["cpu"]
    assert cpu.tolist() == [12, 24, 36, 48]


def test_the_options_of_the_import_do_what_they_say(lists):
    """Tests limit, steps, the other assumption with its seed, and nodes of several sizes."""
    paths = lists()
    assert [job.id for job in import_openb(*paths, model="G2", limit=1).jobs] == ["first"]
    coarse = import_openb(*paths, model="G2", steps=1)
    assert dict(coarse.profiles[0].axes)["cpu"].tolist() == [24, 48]
    drawn = import_openb(*paths, model="G2", profile="models", seed=4)
    assert drawn == import_openb(*paths, model="G2", profile="models", seed=4)
    assert {job.profile for job in drawn.jobs} <= {profile.name for profile in drawn.profiles}
    mixed = import_openb(*lists(nodes=NODES.replace("P100", "G2")), model="G2")
    assert [(group.type, group.count) for group in mixed.cluster.servers] == [
        ("G2-1", 2),
        ("G2-2", 1),
    ]


BAD_LISTS: list[tuple[str, str, str, str, str]] = [
    ("nodes", "sn,cpu", "name,cpu", "line 1", "the column 'sn' is missing"),
    ("nodes", "n1,64000", "n0,64000", "line 3, sn", "'n0' occurs twice"),
    ("nodes", "n1,64000", "n1,0", "line 3, cpu_milli", "at least 1, not 0"),
    ("nodes", "2,P100", "2,", "line 3, model", "must not be empty"),
    ("nodes", "G2", "V100", "", "no node has the GPU model 'G2'; there are P100, V100"),
    ("pods", "12000,49152", "12000,many", "line 2, memory_mib", "must be a number"),
    ("pods", "12000,49152", "-12000,49152", "line 2, cpu_milli", "at least 0, not -12000"),
    ("pods", "late,", "first,", "line 5, name", "'first' occurs twice"),
    ("pods", "1,460", "1,1460", "line 3, gpu_milli", "at most 1000, not 1460"),
    ("pods", "2,1000,P100|G2", "99,1000,", "line 5, num_gpu", "the pool has 16 GPUs"),
    ("pods", ",30", ",later", "line 2, creation_time", "must be a number"),
]


@pytest.mark.parametrize(("which", "old", "new", "place", "rule"), BAD_LISTS)
def test_a_bad_trace_row_is_refused_with_file_and_line(
    lists,
    capsys: pytest.CaptureFixture[str],
    which: str,
    old: str,
    new: str,
    place: str,
    rule: str,
):
    """Tests that each fault of a trace is named with file, line and rule."""
    good = {"nodes": NODES, "pods": PODS}
    paths = lists(**{which: good[which].replace(old, new)})
    assert main(["import", "openb", *map(str, paths), "--model", "G2"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert f"{which}.csv: {place}" in captured.err
    assert rule in captured.err


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        ({"steps": 0}, "steps: must be at least 1"),
        ({"profile": "models", "split": (0, 0, 0)}, "split"),
    ],
)
def test_bad_options_of_the_import_are_refused(lists, options: dict[str, object], rule: str):
    """Tests that options that make no instance are refused by name."""
    with pytest.raises(InvalidInstance, match=rule):
        import_openb(*lists(), model="G2", **options)  # type: ignore[arg-type]


def test_the_published_lists_make_one_homogeneous_pool(reference_data: Path):
    """Tests the pool of 549 G2 nodes with its whole-GPU pods, on the published lists."""
    folder = reference_data / "openb"
    nodes, pods = folder / "openb_node_list_gpu_node.csv", folder / "openb_pod_list_default.csv"
    instance = import_openb(nodes, pods, model="G2")
    (group,) = instance.cluster.servers
    assert (group.count, group.gpus, group.capacity) == (549, 8, (96, 384))
    assert (len(instance.jobs), sum(job.gpus for job in instance.jobs)) == (3986, 4355)
    assert len(runnable(instance)) == 3986
