"""``synergy-opt export``: a stage's programme → MPS or LP, for any other solver."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from synergy_opt.cli import DONE, common

if TYPE_CHECKING:
    from synergy_opt.model import Instance
    from synergy_opt.program import Program


def add(parser: argparse.ArgumentParser) -> None:
    """Describe the command."""
    common.add_instance(parser)
    parser.add_argument("--stage", choices=("1", "2", "packed"), required=True)
    parser.add_argument("--format", choices=("mps", "lp"), required=True)
    parser.add_argument(
        "--linear", action="store_true", help="stage 1: the linear programme, jobs on mixtures"
    )
    parser.add_argument("--output", metavar="F", help="file (default standard output)")
    common.add_json(parser)
    parser.epilog = (
        "Stage 1 has a column for each kind of equal jobs and each fair, undominated "
        "configuration: how many of these jobs have it. Stage 2 has a column for each job and "
        "server: which part of the job is there, for the totals of stage 1's solution. packed has "
        "a column for each kind, configuration and server: how many such jobs are there. All are "
        "to be maximised: the MPS file says so in OBJSENSE and in a comment, which some readers "
        "(PuLP) pass over: tell them. Stage 1's column u_T_P is the number of jobs of kind T at "
        "grid point P (in C order), and row jobs_T has their number; stage 2's x_I_J is the part "
        "of job J on server I. All count from 0, jobs and kinds in the order of the instance."
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write the programme."""
    from synergy_opt.io.program_file import lp_text, mps_text  # noqa: PLC0415
    from synergy_opt.io.text import write_text  # noqa: PLC0415

    program = _program(common.load(options.instance), options)
    text = mps_text(program) if options.format == "mps" else lp_text(program)
    if options.output is not None:
        write_text(options.output, text)
    rows, columns = program.shape
    if options.json:
        document = {"name": program.name, "rows": rows, "columns": columns}
        document |= {"output": options.output} if options.output else {"text": text}
        common.print_json(document)
    elif options.output is not None:
        print(f"{options.output}: {program.name}, {rows} rows, {columns} columns")
    else:
        print(text, end="")
    return DONE


def _program(instance: Instance, options: argparse.Namespace) -> Program:
    from synergy_opt.ideal import ideal_allocation, stage_1_program  # noqa: PLC0415
    from synergy_opt.placement import stage_2_program  # noqa: PLC0415

    if options.stage == "packed":
        from synergy_opt.packed import packed_program  # noqa: PLC0415

        return packed_program(instance)
    if options.stage == "2":
        return stage_2_program(instance, ideal_allocation(instance))
    return stage_1_program(instance, integral=not options.linear)
