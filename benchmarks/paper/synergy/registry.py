"""All entries, in the paper's order."""

from __future__ import annotations

from collections.abc import Mapping

from benchmarks.paper.synergy import (
    beyond,
    clusters,
    optimum,
    policies,
    profiles,
    splits,
    workloads,
)
from benchmarks.paper.synergy.entry import Entry

_NUMBERS = "the authors' profiles were measured on V100 servers; ours are synthetic"

_SHORT_FIRST = (
    "The gain does not grow with the load here, not even at 8 jobs/h, where the queue grows "
    "without end. At 3 jobs/h GPUs are free, jobs take the cores that come with them and nobody "
    "waits: all of the gain is in running, a sixth. In a full cluster a job has only what its "
    "neighbours leave, and running gains a tenth. Waiting gains more where the load is about what "
    "the cluster can carry and a tenth more speed saves much of the queue (5 jobs/h), but there "
    "SRTF, which lets short jobs pass, keeps it to a third of a completion time; beyond, where it "
    "is most of the time, the queue grows under both and the gain in it falls too."
)
_HEAD_START = (
    "Where all jobs are sensitive, a full cluster has nothing to redistribute: in one round TUNE "
    "has the throughput of the shares, and where all jobs are there from the start it has the "
    "same completion times. What it gains here it gains while the cluster fills and the cores of "
    "idle GPUs are free; under FIFO that head start stays, some hours a job, and is the smaller "
    "a part of a completion time the longer the queue has grown. In the small settings, jobs 800 "
    "to 1,099, it is 15 % of it."
)
_SAME_BASE = (
    "The baseline is the same at every ratio, since a job's work is its duration at its share: "
    "what shrinks is what TUNE can add."
)
_BOTH_TOGETHER = (
    "What TUNE loses to the optimum at 128 GPUs, restriction by restriction (rows “part of the "
    "optimum”, means): it knows two amounts a job, all that it can use or its share, but the "
    "optimum with these two alone keeps 97 %; it chooses servers before it knows who will be sent "
    "back to the share, but with the best amounts on its servers 94 to 97 % would be left. Both "
    "together leave 88 to 91 %, and TUNE is within about 2 points of that. Where a server's "
    "hungry jobs do not all fit, what one of them leaves behind is too little for the next and "
    "goes to nobody: cores stay idle that the optimum uses."
)

_SELDOM_FULL = (
    "These jobs leave half of the GPUs idle (last row), so few of them wait: what TUNE gains is "
    "that jobs run faster, not that queues are shorter. Arrivals, durations and GPUs are the "
    "trace's, 8,000 jobs of up to 16 GPUs from its middle; a seed draws the models."
)
_STILL_WINS = (
    "The most throughput in each round gives the shortest completion times too, in every sweep. "
    "By how much depends on what waits: under FIFO a full cluster's throughput decides how long "
    "the queue is; under SRTF, and where all jobs are sensitive, TUNE's times are 2 to 5 % longer."
)
_MOVES_ARE_FEW = (
    "The optimum moves a job more often than TUNE, but a few times in hours: at 60 s a move it "
    "wins as before. Renaming servers (sticky) saves it a sixth of its moves."
)

_ENTRIES = (
    Entry(
        name="fig1",
        title="Average JCT over load, four policies (§1, §5.3.2)",
        hardware=_NUMBERS,
        run=policies.fig1,
    ),
    Entry(
        name="tables1-3",
        title="Worked example: four jobs on two servers (§2.1, Tables 1–3, Fig. 3)",
        hardware="epoch times of the real models",
        run=profiles.worked_example,
    ),
    Entry(
        name="fig5a",
        title="Memory model against truth (§3.1)",
        hardware="the truth: an 8-GPU ResNet18 job; here a synthetic one",
        run=profiles.fig5a,
    ),
    Entry(
        name="fig5b",
        title="CPU profile from few points (§3.1)",
        hardware="the truth: a 1-GPU ResNet18 job; here synthetic ones, and a real input pipeline "
        "in docs/how-to/profile-a-pipeline.md",
        run=profiles.fig5b,
    ),
    Entry(
        name="table5",
        title="Makespan and JCT on 32 GPUs (§5.2)",
        hardware="the physical cluster: only the simulation of it is repeated",
        run=clusters.table5,
    ),
    Entry(
        name="fig6",
        title="Philly trace on 512 GPUs (§5.3.1)",
        hardware=f"{_NUMBERS}; the trace itself with --trace",
        run=clusters.fig6,
        note=_SELDOM_FULL,
    ),
    Entry(name="fig7", title="LAS, multi-GPU (§5.3.2)", hardware=_NUMBERS, run=policies.fig7),
    Entry(
        name="fig8",
        title="SRTF, multi-GPU (§5.3.2)",
        hardware=_NUMBERS,
        run=policies.fig8,
        note=_SHORT_FIRST,
    ),
    Entry(name="fig9", title="FIFO, single GPU (§5.3.2)", hardware=_NUMBERS, run=policies.fig9),
    Entry(
        name="fig10", title="GPUs and CPUs in use (§5.4)", hardware=_NUMBERS, run=workloads.fig10
    ),
    Entry(
        name="fig11",
        title="Workload splits (§5.4)",
        hardware=_NUMBERS,
        run=splits.fig11,
        note=_HEAD_START,
    ),
    Entry(
        name="fig12",
        title="CPU:GPU ratio (§5.5)",
        hardware=_NUMBERS,
        run=clusters.fig12,
        note=_SAME_BASE,
    ),
    Entry(
        name="opt",
        title="TUNE against the optimum, one round (§5.6)",
        hardware="",
        run=optimum.optimum,
        note=_BOTH_TOGETHER,
    ),
    Entry(
        name="fig13",
        title="DRF and Tetris (§5.7)",
        hardware=f"{_NUMBERS}; under DRF and TETRIS a job has its best-case demand whenever it "
        "runs, never less, as in the paper; there it then runs to its end, here each round "
        "chooses anew",
        run=workloads.fig13,
    ),
    Entry(
        name="beyond",
        title="Beyond the paper: the optimum on real servers, over time",
        hardware="",
        run=beyond.optimum_over_time,
        note=_STILL_WINS,
    ),
    Entry(
        name="moves",
        title="Beyond the paper: moves that cost, and sticky placement",
        hardware="",
        run=beyond.moves,
        note=_MOVES_ARE_FEW,
    ),
)

ENTRIES: Mapping[str, Entry] = {entry.name: entry for entry in _ENTRIES}
