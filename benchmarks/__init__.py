"""Speed and quality of the package's methods, measured apart from its tests."""
