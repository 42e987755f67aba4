"""Files ↔ values: JSON with a schema version, CSV profiles, public trace formats.

Takes paths and gives checked values, or takes values and writes whole files; a file that breaks a
rule is refused with its name, the path inside it and the rule.
"""

from synergy_opt.io.allocation_file import read_allocation, write_allocation
from synergy_opt.io.bound_json import certificate_json
from synergy_opt.io.instance_csv import import_csv
from synergy_opt.io.instance_file import instance_text, read_instance, write_instance
from synergy_opt.io.openb import import_openb
from synergy_opt.io.openb_trace import read_openb_pods
from synergy_opt.io.philly import read_philly_csv, read_philly_log
from synergy_opt.io.placement_file import (
    StatedPlacement,
    placement_to_json,
    read_placement,
    write_placement,
)
from synergy_opt.io.profile_csv import read_profiles, write_profiles
from synergy_opt.io.shipped import shipped, shipped_names, shipped_path
from synergy_opt.io.trace import Imported
from synergy_opt.io.workload_csv import read_workload, workload_text, write_workload

__all__ = [
    "Imported",
    "StatedPlacement",
    "certificate_json",
    "import_csv",
    "import_openb",
    "instance_text",
    "placement_to_json",
    "read_allocation",
    "read_instance",
    "read_openb_pods",
    "read_philly_csv",
    "read_philly_log",
    "read_placement",
    "read_profiles",
    "read_workload",
    "shipped",
    "shipped_names",
    "shipped_path",
    "workload_text",
    "write_allocation",
    "write_instance",
    "write_placement",
    "write_profiles",
    "write_workload",
]
