"""Downloads of a run's files."""

from __future__ import annotations

import hashlib
import http.client
import os
import uuid
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from .error import Error

if TYPE_CHECKING:
    from . import models
    from .connection import Connection
    from .run import Run

_block = 1 << 20

# Tries of a download whose connection breaks.
_tries = 4


def pull(connection: Connection, run: Run, path: str, folder: Path, *, checkpoints: bool, force: bool) -> Path:
    """Download what :meth:`mps.run.Run.pull` names."""
    wanted = path.strip("/")
    below = f"{wanted}/" if wanted else ""
    files = [one for one in run.artifacts(checkpoints=checkpoints) if one["path"] == wanted or one["path"].startswith(below)]
    kind = "checkpoint" if checkpoints else "artifact"
    if not files:
        raise Error(f"{run.name} has no {kind} {path}." if wanted else f"{run.name} has no {kind}s.")
    places = [(one, _place(folder, one["path"])) for one in files]
    new = [(one, place) for one, place in places if not _is_same(one, place)]
    other = [str(place) for _, place in new if place.exists()]
    if other and not force:
        raise Error(f"{', '.join(other[:5])} exists with other content; nothing was downloaded. force=True replaces it.")
    for one, place in new:
        _save(connection, f"{run.path}/artifacts/{quote(one['path'])}", kind, one, place)
    return folder / wanted


def _place(folder: Path, path: str) -> Path:
    """Return where a file goes. :raises Error: for a path that leaves the folder"""
    place = Path(os.path.normpath(folder / path))
    real = Path(os.path.realpath(folder))
    beside = Path(os.path.realpath(place.parent))
    # A link below the folder may have come with it.
    if Path(os.path.normpath(folder)) not in place.parents or (real != beside and real not in beside.parents):
        raise Error(f'The artifact "{path}" would be saved outside of {folder}; nothing was downloaded.')
    return place


def _is_same(artifact: models.Artifact, place: Path) -> bool:
    if not place.is_file() or place.stat().st_size != artifact["size"] or artifact["sha256"] is None:
        return False
    digest = hashlib.sha256()
    with place.open("rb") as file:
        while block := file.read(_block):
            digest.update(block)
    return digest.hexdigest() == artifact["sha256"]


def _save(connection: Connection, path: str, kind: str, artifact: models.Artifact, place: Path) -> None:
    """Download a file beside its place and move it there once it is whole."""
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        for left in reversed(range(_tries)):
            part = place.with_name(f".pull-{uuid.uuid4().hex}")
            with part.open("xb") as file:
                try:
                    digest, size = hashlib.sha256(), 0
                    with connection.open("GET", path, query={"kind": kind}) as answer:
                        while block := answer.read(_block):
                            file.write(block)
                            digest.update(block)
                            size += len(block)
                            if size > artifact["size"]:
                                break
                    file.close()
                    if size == artifact["size"] and artifact["sha256"] in (None, digest.hexdigest()):
                        os.replace(part, place)
                        return
                    if not left:
                        raise Error(f'The artifact "{artifact["path"]}" did not arrive whole: its SHA-256 differs.')
                except (http.client.HTTPException, ConnectionError, TimeoutError) as fault:
                    if not left:
                        raise Error(f'The download of "{artifact["path"]}" broke off.') from fault
                finally:
                    if part.exists():
                        part.unlink()
    except OSError as fault:
        raise Error(f"{place} cannot be written: {fault.strerror or fault}.") from fault
