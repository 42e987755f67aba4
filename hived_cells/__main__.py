"""`python -m hived_cells` is the `hived-cells` command."""

import sys

from hived_cells.cli import main

if __name__ == "__main__":
    sys.exit(main())
