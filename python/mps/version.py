"""Version of this package, which is that of its service: the wheel has it, the sources have 0.0.0."""

version = "0.0.0"
