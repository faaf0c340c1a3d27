"""Records a run: on disk first, then to the service."""
