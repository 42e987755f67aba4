"""Sphinx configuration of the documentation site: `python -m sphinx -W docs FOLDER`."""

import os
import subprocess
import sys

from docutils import nodes
from docutils.parsers.rst import Directive

import synergy_opt

project = "synergy-hived"
author = "The synergy-hived developers"
copyright = "the synergy-hived developers, MIT licence"  # noqa: A001  # Sphinx's name
release = version = synergy_opt.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx-mathjax-offline",  # no formula depends on another host
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build"]
suppress_warnings = ["ref.python"]  # both packages have a Cluster and a Job
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
numpydoc_show_class_members = False  # autodoc shows them
numpydoc_class_members_toctree = False
html_theme = "furo"
html_title = f"synergy-hived {release}"


class Help(Directive):
    """What a command prints for `--help`, run at every build: the one description there is."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """Give the output as a literal block."""
        program, *words = self.arguments[0].split()
        done = subprocess.run(
            [sys.executable, "-m", program.replace("-", "_"), *words, "--help"],
            env={**os.environ, "COLUMNS": "88", "NO_COLOR": "1"},
            capture_output=True,
            text=True,
            check=True,
        )
        return [nodes.literal_block(text=done.stdout)]


def setup(app: object) -> None:
    """Register the directive."""
    app.add_directive("help", Help)
