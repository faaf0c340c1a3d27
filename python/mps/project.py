"""Projects by their names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .error import Error

if TYPE_CHECKING:
    from .connection import Connection


def project_id(connection: Connection, name: str) -> str:
    """Return the id of a project by its name or id, the caller's own first, as the command does.

    :raises Error: if there is none, or several of others have the name
    """
    if re.fullmatch("[0-9a-hjkmnp-tv-z]{26}", name):
        return name
    found = [one for one in connection.rows("/projects/", query={"limit": 1000}) if one["project_name"] == name]
    user = (connection.token() or "").partition(".")[0]
    own = [one for one in found if one["owner_id"] == user] or found
    if not own:
        raise Error(f'There is no project "{name}".')
    if len(own) > 1:
        ids = ", ".join(f"{one['project_id']} of {one['owner'] or 'nobody'}" for one in own)
        raise Error(f'Several projects are called "{name}"; choose one by its id: {ids}.')
    return str(own[0]["project_id"])
