"""Reads the SQLite database of an MLflow server. Files of runs are read by `mps` itself."""
from source import number
from sqlite_file import SqliteFile


OF_RUN = "key = 'mlflow.sourceRun'"
"""Says of a trace's metadata that it names a run."""


def open_source(path, scratch):
    return MlflowDatabase(SqliteFile(path))


class MlflowDatabase:
    def __init__(self, database):
        self._database = database
        lacking = {"experiments", "runs", "metrics", "params", "tags"} - database.tables
        if lacking:
            raise ValueError(f"it is no database of MLflow: the tables {', '.join(sorted(lacking))} are missing")

    def experiments(self):
        for id, name, stage in self._database.rows("SELECT experiment_id, name, lifecycle_stage FROM experiments"):
            tags = self._pairs("experiment_tags", "experiment_id", id)
            yield {"id": str(id), "name": name, "tags": tags, "isDeleted": stage == "deleted"}

    def runs(self, experiment):
        columns = "run_uuid, name, status, user_id, start_time, end_time, lifecycle_stage, artifact_uri"
        for id, name, status, user, start, end, stage, uri in self._database.rows(
            f"SELECT {columns} FROM runs WHERE experiment_id = ? ORDER BY start_time", experiment
        ):
            yield {
                "id": id,
                "name": name or "",
                "status": status or "RUNNING",
                "user": user or "",
                "start": start,
                "end": end,
                "isDeleted": stage == "deleted",
                "params": self._pairs("params", "run_uuid", id),
                "tags": self._pairs("tags", "run_uuid", id),
                "datasets": self._datasets(id),
                "artifactUri": uri or "",
                "loggedModels": self._logged_models(id),
                "state": f"ended {end or ''}",
            }

    def points(self, run):
        for key, value, is_nan, time, step in self._database.pages(
            "SELECT rowid, key, value, is_nan, timestamp, step FROM metrics"
            " WHERE run_uuid = ? AND rowid > ? ORDER BY rowid LIMIT ?",
            run,
        ):
            yield key, "NaN" if is_nan else number(value), time, step

    def models(self):
        if "registered_models" not in self._database.tables:
            return
        for name, description in self._database.rows("SELECT name, description FROM registered_models"):
            aliases = self._rows_of("registered_model_aliases", "alias, version", name)
            yield {
                "name": name,
                "description": description or "",
                "tags": self._pairs("registered_model_tags", "name", name),
                "aliases": [{"alias": alias, "version": version} for alias, version in aliases],
                "versions": list(self._versions(name)),
            }

    def _versions(self, model):
        columns = "version, description, source, run_id, run_link, current_stage"
        for version, description, source, run, link, stage in sorted(self._rows_of("model_versions", columns, model)):
            if stage == "Deleted_Internal":
                continue
            tags = self._database.rows(
                "SELECT key, value FROM model_version_tags WHERE name = ? AND version = ?", model, version
            )
            yield {
                "number": version,
                "description": description or "",
                "source": source or "",
                "runId": run or "",
                "runLink": link or "",
                "stage": stage or "None",
                "tags": [{"key": key, "value": value or ""} for key, value in tags],
            }

    def notes(self, kind, id=None):
        found = {}
        if kind == "experiments":
            found = {"evaluation datasets of MLflow": self._count("evaluation_datasets")}
        elif kind == "runs":
            of_run = "value IN (SELECT run_uuid FROM runs) AND request_id = trace_info.request_id"
            alone = f"NOT EXISTS (SELECT 1 FROM trace_request_metadata WHERE {OF_RUN} AND {of_run})"
            lone = "coalesce(source_run_id, '') = '' AND lifecycle_stage = 'active'"
            found = {
                "traces of MLflow without a run": self._count("trace_info", f"experiment_id = ? AND {alone}", id),
                "logged models without a run": self._count("logged_models", f"experiment_id = ? AND {lone}", id),
            }
        elif kind == "points":
            found = {"traces of MLflow": self._count("trace_request_metadata", f"{OF_RUN} AND value = ?", id)}
        return {"omitted": {reason: count for reason, count in found.items() if count}}

    def _count(self, table, condition="1", *values):
        if table not in self._database.tables:
            return 0
        return self._database.rows(f"SELECT count(*) FROM {table} WHERE {condition}", *values)[0][0]

    def release(self, run):
        return ()

    def _logged_models(self, run):
        if "logged_models" not in self._database.tables:
            return []
        columns = "model_id, name, artifact_location"
        condition = "source_run_id = ? AND lifecycle_stage = 'active' ORDER BY creation_timestamp_ms, model_id"
        models = self._database.rows(f"SELECT {columns} FROM logged_models WHERE {condition}", run)
        return [
            {
                **{"id": id, "name": name, "artifactUri": uri or ""},
                "params": self._pairs("logged_model_params", "model_id", id, "param_key, param_value"),
                "tags": self._pairs("logged_model_tags", "model_id", id, "tag_key, tag_value"),
            }
            for id, name, uri in models
        ]

    def _rows_of(self, table, columns, name):
        if table not in self._database.tables:
            return []
        return self._database.rows(f"SELECT {columns} FROM {table} WHERE name = ?", name)

    def _pairs(self, table, column, value, columns="key, value"):
        if table not in self._database.tables:
            return []
        rows = self._database.rows(f"SELECT {columns} FROM {table} WHERE {column} = ?", value)
        return [{"key": key, "value": value or ""} for key, value in rows]

    def _datasets(self, run):
        if not {"inputs", "datasets", "input_tags"} <= self._database.tables:
            return []
        found = []
        for input, name, digest, kind, source, schema, profile in self._database.rows(
            "SELECT input_uuid, name, digest, dataset_source_type, dataset_source, dataset_schema, dataset_profile"
            " FROM inputs JOIN datasets ON dataset_uuid = source_id"
            " WHERE source_type = 'DATASET' AND destination_type = 'RUN' AND destination_id = ?",
            run,
        ):
            dataset = {"name": name, "digest": digest, "source_type": kind, "source": source}
            texts = {"schema": schema, "profile": profile}
            tags = self._database.rows("SELECT name, value FROM input_tags WHERE input_uuid = ?", input)
            found.append(
                {
                    "tags": [{"key": key, "value": value} for key, value in tags],
                    "dataset": {**dataset, **{key: text for key, text in texts.items() if text}},
                }
            )
        return found
