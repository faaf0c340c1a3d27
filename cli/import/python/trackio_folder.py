"""Reads the databases that Trackio keeps: one for each project, with pictures and other media beside them."""
import glob
import json
import os
import re
import sqlite3
import time

from source import FRESH_SECONDS, Source, flat, milliseconds, number, pairs, system
from sqlite_file import SqliteFile


def open_source(path, scratch):
    return TrackioFolder(path, scratch)


class TrackioFolder(Source):
    def __init__(self, path, scratch):
        super().__init__(scratch)
        self._folder = path if os.path.isdir(path) else os.path.dirname(path)
        paths = sorted(glob.glob(os.path.join(glob.escape(path), "*.db"))) if os.path.isdir(path) else [path]
        self._databases = {}
        for one in paths:
            try:
                database = SqliteFile(one)
                if "metrics" in database.tables and "metrics" in database.columns("metrics"):
                    self._databases[os.path.splitext(os.path.basename(one))[0]] = database
            except (OSError, ValueError, sqlite3.DatabaseError) as error:
                self.unread.append(f"{one}: {error}")
        self._runs_of = {}

    def experiments(self):
        for name in self._databases:
            yield {"id": name, "name": name, "tags": [], "isDeleted": False}

    def runs(self, project):
        database = self._databases[project]
        for _, _, names in os.walk(os.path.join(self._folder, "media", project, "files")):
            self.omit_beside("files that Trackio saved for a project", len(names))
        # Older versions know a run by its name alone.
        column = "run_id" if "run_id" in database.columns("metrics") else "run_name"
        configs = {}
        if "configs" in database.tables:
            rows = database.rows(f"SELECT {column}, run_name, config FROM configs")
            configs = {id: (name, config) for id, name, config in rows}
        found = {id: None for id in configs}
        sql = f"SELECT {column}, max(run_name), min(timestamp), max(timestamp), count(*), max(id) FROM %s GROUP BY 1"
        tables = [table for table in ("metrics", "system_metrics") if table in database.tables]
        for table in tables:
            for id, *facts in database.rows(sql % table):
                found[id] = [*(found.get(id) or []), facts]
        for id, facts in found.items():
            run = f"{project}/{id}"
            self._runs_of[run] = (database, column, id, tables)
            name, text = configs.get(id, (id, "{}"))
            config = {}
            with self.each(run, "configurations that are damaged"):
                config = dict(json.loads(text))
            try:
                described = describe(run, name, config, facts)
            except Exception as error:
                self.unread.append(f"run {run}: {error}")
                continue
            yield described

    def points(self, run):
        database, column, id, tables = self._runs_of[run]
        where = f"WHERE {column} = ? AND id > ? ORDER BY id LIMIT ?"
        for step, when, metrics in database.pages(f"SELECT id, step, timestamp, metrics FROM metrics {where}", id):
            with self.each(run):
                at = milliseconds(when)
                for key, value in flat(json.loads(metrics)):
                    point = number(value)
                    if point is None:
                        self._keep(run, step, key, value)
                    else:
                        yield key, point, at, step
        if "system_metrics" in tables:
            sql = f"SELECT id, timestamp, metrics FROM system_metrics {where}"
            for step, (when, metrics) in enumerate(database.pages(sql, id)):
                with self.each(run):
                    for key, value in flat(json.loads(metrics)):
                        point = number(value)
                        if point is None:
                            self.history(run, step, system(key), value)
                        else:
                            yield system(key), point, milliseconds(when), step
        self._keep_others(run, database, column, id)

    def _keep(self, run, step, key, value):
        self.history(run, step, key, value)
        for index, part in enumerate(value if isinstance(value, list) else [value]):
            kind = part.get("_type", "") if isinstance(part, dict) else ""
            name = key if index == 0 else f"{key}.{index}"
            if kind == "trackio.histogram":
                self.histogram(run, step, name, part["bins"], part["values"])
            elif kind == "trackio.table":
                rows = part.get("_value") or []
                columns = list(dict.fromkeys(column for row in rows for column in row))
                self.table(run, step, name, columns, [[row.get(column) for column in columns] for row in rows])
                for row in rows:
                    for column, cell in row.items():
                        for one in cell if isinstance(cell, list) else [cell]:
                            self._link_medium(run, step, f"{name}/{column}", one)
            else:
                self._link_medium(run, step, name, part)

    def _link_medium(self, run, step, name, value):
        if isinstance(value, dict) and value.get("file_path"):
            kind = value.get("_type", "").split(".")[-1]
            ending = os.path.splitext(value["file_path"])[1]
            media = os.path.join(self._folder, "media")
            local = os.path.join(media, value["file_path"])
            self.link(run, f"media/{kind}/{name}_step_{step}{ending}", local, media)

    def _keep_others(self, run, database, column, id):
        if "traces" in database.tables:
            [(count,)] = database.rows(f"SELECT count(*) FROM traces WHERE {column} = ?", id)
            if count:
                self.omit(run, "traces of Trackio", count)
        if "alerts" in database.tables:
            for when, title, text, level, step in database.rows(
                f"SELECT timestamp, title, text, level, step FROM alerts WHERE {column} = ? ORDER BY id", id
            ):
                alert = {"time": when, "step": step, "level": level, "title": title, "text": text}
                self.add(run, "import/alerts.ndjson", json.dumps(alert) + "\n", is_more=True)
        if {"artifacts", "artifact_versions"} <= database.tables:
            for name, kind, about, version, manifest, metadata in database.rows(
                "SELECT name, type, artifacts.description, version, manifest, metadata FROM artifact_versions"
                f" JOIN artifacts ON artifacts.id = artifact_id WHERE producer_{column} = ?",
                id,
            ):
                with self.each(run):
                    for entry in json.loads(manifest):
                        self._link_artifact(run, f"artifacts/{name}/v{version}", database, entry)
                facts = {"name": name, "version": version, "type": kind, "description": about, "metadata": metadata}
                self.add(run, "import/artifacts.ndjson", json.dumps(facts) + "\n", is_more=True)

    def _link_artifact(self, run, folder, database, entry):
        digest = entry.get("digest") or ""
        blob = blob_of(self._folder, database.path, digest)
        if digest and os.path.isfile(blob):
            self.link(run, f"{folder}/{entry['path']}", blob, os.path.join(self._folder, "artifacts"))
        else:
            self.omit(run, "artifacts that are kept elsewhere")


def blob_of(folder, database, digest):
    """Return where Trackio keeps the content of a file of an artifact."""
    project = os.path.splitext(os.path.basename(database))[0]
    name = re.sub("[^0-9a-f]", "", digest)
    return os.path.join(folder, "artifacts", project, "blobs", "sha256", name[:2], name)


def describe(run, name, config, facts):
    name, first, last, *state = merged(facts) if facts else (name, config.get("_Created"), None, 0, 0)
    first, last = milliseconds(config.get("_Created") or first), milliseconds(last)
    # Trackio records no end.
    is_live = last is not None and time.time() * 1000 - last < FRESH_SECONDS * 1000
    own = {key: value for key, value in config.items() if not key.startswith("_")}
    group = config.get("_Group")
    return {
        "id": run,
        "name": name,
        "status": "RUNNING" if is_live else "FINISHED",
        "user": config.get("_Username") or "",
        "start": first,
        "end": None if is_live else last,
        "params": pairs(flat(own)),
        "tags": pairs([("trackio.group", group)] if group else []),
        "state": " ".join(str(part) for part in state),
    }


def merged(tables):
    """Join what one or two tables say of a run."""
    (name, *_), *_ = tables
    first, last = min(facts[1] for facts in tables), max(facts[2] for facts in tables)
    return [name, first, last, *(part for facts in tables for part in facts[3:])]
