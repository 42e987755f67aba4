"""Files ↔ values: JSON with a schema version, CSV profiles, public trace formats.

Takes paths and gives checked values, or takes values and writes whole files; a file that breaks a
rule is refused with its name, the path inside it and the rule.
"""

from synergy_opt.io.instance_file import read_instance, write_instance
from synergy_opt.io.placement_file import read_placement, write_placement

__all__ = ["read_instance", "read_placement", "write_instance", "write_placement"]
