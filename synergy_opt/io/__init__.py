"""Files ↔ values: JSON with a schema version, CSV profiles, public trace formats.

Takes paths and gives checked values, or takes values and writes whole files; a file that breaks a
rule is refused with its name, the path inside it and the rule.
"""

from synergy_opt.io.instance_csv import import_csv
from synergy_opt.io.instance_file import instance_text, read_instance, write_instance
from synergy_opt.io.openb import import_openb
from synergy_opt.io.placement_file import placement_to_json, read_placement, write_placement
from synergy_opt.io.profile_csv import read_profiles, write_profiles
from synergy_opt.io.shipped import shipped, shipped_names, shipped_path

__all__ = [
    "import_csv",
    "import_openb",
    "instance_text",
    "placement_to_json",
    "read_instance",
    "read_placement",
    "read_profiles",
    "shipped",
    "shipped_names",
    "shipped_path",
    "write_instance",
    "write_placement",
    "write_profiles",
]
