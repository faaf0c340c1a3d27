"""Reads the databases that Trackio keeps: one for each project, with pictures and other media beside them."""
import glob
import json
import os
import re
import shlex
import sqlite3
import time

from source import FRESH_SECONDS, Source, flat, milliseconds, number, pairs, system
from sqlite_file import SqliteFile


BACK_TO_DATABASES = (
    "TRACKIO_DIR={} python -c 'from trackio.sqlite_storage import SQLiteStorage as S; S.import_from_parquet()'"
)
"""Command that makes databases of what Trackio has exported to its data set on the Hub. Python reads no Parquet by itself."""


def open_source(path, scratch):
    return TrackioFolder(path, scratch)


class TrackioFolder(Source):
    def __init__(self, path, scratch):
        super().__init__(scratch)
        self._folder = path if os.path.isdir(path) else os.path.dirname(path)
        paths = sorted(glob.glob(os.path.join(glob.escape(path), "*.db"))) if os.path.isdir(path) else [path]
        if not paths and glob.glob(os.path.join(glob.escape(path), "*.parquet")):
            raise ValueError(f"it has Parquet files alone. Trackio makes databases of them: {BACK_TO_DATABASES.format(shlex.quote(path))}")
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
        sql = f"SELECT DISTINCT {column}, step - CAST(step AS INTEGER) FROM metrics WHERE step != CAST(step AS INTEGER)"
        fractions = {}
        for id, fraction in database.rows(sql):
            fractions.setdefault(id, []).append(fraction)
        used = used_artifacts(database, column)
        for id, facts in found.items():
            run = f"{project}/{id}"
            self._runs_of[run] = (database, column, id, tables)
            name, text = configs.get(id, (id, "{}"))
            config = {}
            with self.each(run, "configurations that are damaged"):
                config = dict(json.loads(text))
            try:
                tags = self.scale(run, fractions.get(id, []), "trackio.step_factor")
                tags += [("trackio.used_artifacts", ", ".join(used[id]))] if id in used else []
                described = describe(run, name, config, facts, tags)
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
                        yield key, point, at, self.step(run, step)
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
        at, paths = self.step(run, step), {}
        for index, part in enumerate(value if isinstance(value, list) else [value]):
            kind = part.get("_type", "") if isinstance(part, dict) else ""
            name = key if index == 0 else f"{key}.{index}"
            if kind == "trackio.histogram":
                self.histogram(run, at, name, part["bins"], part["values"])
            elif kind == "trackio.table":
                rows = part.get("_value") or []
                columns = list(dict.fromkeys(column for row in rows for column in row))
                for row in rows:
                    for column, cell in row.items():
                        for one in cell if isinstance(cell, list) else [cell]:
                            self._link_medium(run, at, f"{name}/{column}", one, paths)
                self.table(run, at, name, columns, renamed([[row.get(column) for column in columns] for row in rows], paths))
            else:
                self._link_medium(run, at, name, part, paths)
        self.history(run, step, key, renamed(value, paths))

    def _link_medium(self, run, step, name, value, paths):
        """Name a medium as a file of the run, and note its path here by that of Trackio."""
        if isinstance(value, dict) and value.get("file_path"):
            kind = value.get("_type", "").split(".")[-1]
            ending = os.path.splitext(value["file_path"])[1]
            media = os.path.join(self._folder, "media")
            local = os.path.join(media, value["file_path"])
            paths[value["file_path"]] = self.link(run, f"media/{kind}/{name}_step_{step}{ending}", local, media)

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
            for row, name, kind, about, version, manifest, metadata in database.rows(
                "SELECT artifact_versions.id, name, type, artifacts.description, version, manifest, metadata FROM artifact_versions"
                f" JOIN artifacts ON artifacts.id = artifact_id WHERE producer_{column} = ?",
                id,
            ):
                facts = {"name": name, "version": version, "type": kind, "description": about, "metadata": metadata}
                if "artifact_aliases" in database.tables:
                    rows = database.rows("SELECT alias FROM artifact_aliases WHERE artifact_version_id = ? ORDER BY alias", row)
                    facts["aliases"] = [alias for (alias,) in rows]
                with self.each(run):
                    entries = json.loads(manifest)
                    facts["references"] = [{"path": one["path"], "reference": one["ref"]} for one in entries if one.get("ref")]
                    for entry in entries:
                        self._link_artifact(run, f"artifacts/{name}/v{version}", database, entry)
                self.add(run, "import/artifacts.ndjson", json.dumps(facts) + "\n", is_more=True)

    def _link_artifact(self, run, folder, database, entry):
        digest = entry.get("digest") or ""
        blob = blob_of(self._folder, database.path, digest)
        if digest and os.path.isfile(blob):
            self.link(run, f"{folder}/{entry['path']}", blob, os.path.join(self._folder, "artifacts"))
        else:
            self.omit(run, "artifacts that are kept elsewhere")


def used_artifacts(database, column):
    """Return the artifacts that runs have used, of this project and of others, by run."""
    used = {}
    for table, names in (
        ("run_artifact_links", "name || ':v' || version FROM run_artifact_links"
         " JOIN artifact_versions ON artifact_versions.id = artifact_version_id JOIN artifacts ON artifacts.id = artifact_id"),
        ("external_run_artifact_links", "source_project || '/' || source_artifact || ':v' || source_version"
         " FROM external_run_artifact_links"),
    ):
        if table in database.tables:
            for id, name in database.rows(f"SELECT {table}.{column}, {names} WHERE direction = 'input' ORDER BY {table}.id"):
                used.setdefault(id, []).append(name)
    return used


def renamed(value, paths):
    """Return a value with the paths here of the files that it names, so that captions are told from each other."""
    if isinstance(value, dict):
        return {key: renamed(one, paths) for key, one in value.items()}
    if isinstance(value, list):
        return [renamed(one, paths) for one in value]
    return (isinstance(value, str) and paths.get(value)) or value


def blob_of(folder, database, digest):
    """Return where Trackio keeps the content of a file of an artifact."""
    project = os.path.splitext(os.path.basename(database))[0]
    name = re.sub("[^0-9a-f]", "", digest)
    return os.path.join(folder, "artifacts", project, "blobs", "sha256", name[:2], name)


def describe(run, name, config, facts, tags):
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
        "tags": pairs([*([("trackio.group", group)] if group else []), *tags]),
        "state": " ".join(str(part) for part in state),
    }


def merged(tables):
    """Join what one or two tables say of a run."""
    (name, *_), *_ = tables
    first, last = min(facts[1] for facts in tables), max(facts[2] for facts in tables)
    return [name, first, last, *(part for facts in tables for part in facts[3:])]
