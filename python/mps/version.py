"""Version of this package, which is that of its service: the wheel has it, the sources have 0.0.0."""

version = "0.0.0"

# SHA-256 of the archive of the command, `mps.tgz`, of the same build; blank in the sources.
command_digest = ""
