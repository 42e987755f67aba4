"""``python -m synergy_opt`` is the program ``synergy-opt``."""

import sys

from synergy_opt.cli import main

if __name__ == "__main__":
    sys.exit(main())
