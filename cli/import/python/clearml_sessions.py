"""Reads what ClearML records offline: a folder, or its zip, for each task."""
import json
import os
import posixpath
import zipfile
from datetime import datetime, timezone

from source import Source, number, pairs


def open_source(path, scratch):
    return ClearmlSessions(path, scratch)


class ClearmlSessions(Source):
    def __init__(self, path, scratch):
        super().__init__(scratch)
        self._tasks = {}
        for session in sessions(path):
            try:
                with session.open("task.json") as file:
                    task = json.load(file)
                self._tasks.setdefault(task["id"], (session, task))
            except (OSError, KeyError, ValueError, zipfile.BadZipFile) as error:
                self.unread.append(f"{session.path}: {error}")

    def experiments(self):
        for name in sorted({project_of(task) for _, task in self._tasks.values()}):
            yield {"id": name, "name": name, "tags": [], "isDeleted": False}

    def runs(self, project):
        for id, (session, task) in self._tasks.items():
            if project_of(task) == project:
                first = next((event.get("timestamp") for event in self._events(id, session, "log.jsonl")), None)
                yield describe(id, session, task, first)

    def points(self, id):
        session, task = self._tasks[id]
        for event in self._events(id, session, "metrics.jsonl"):
            kind, step = event.get("type"), event.get("iter") or 0
            key = posixpath.join(event.get("metric") or "", event.get("variant") or "")
            if event.get("model_event"):
                self.omit(id, "metrics of models")
            elif kind == "training_stats_scalar":
                # As ClearML draws it: a title with one series of its own name.
                name = event["metric"] if event["metric"] == event["variant"] else key
                machine = name.startswith(":monitor:")
                yield f"system/{name[9:].replace('/', '_')}" if machine else name, number(event["value"]), event["timestamp"], step
            elif kind == "plot":
                self.add(id, f"media/plotly/{key}_step_{step}.plotly.json", event.get("plot_str") or "")
            elif kind == "training_debug_image":
                self._bring(id, session, event.get("key") or "", f"media/images/{key}_step_{step}")
            else:
                self.history(id, step, key, event)
        for event in self._events(id, session, "log.jsonl"):
            line = event.get("msg") or ""
            self.add(id, "output.log", line if line.endswith("\n") else f"{line}\n", is_more=True)
        self._keep_artifacts(id, session, task)

    def _events(self, id, session, name):
        if not session.has(name):
            return
        with session.open(name) as file:
            for line in file:
                try:
                    yield from json.loads(line)
                except ValueError:
                    self.omit(id, f"lines of {name} that are torn")

    def _keep_artifacts(self, id, session, task):
        start = f"{task.get('offline_folder', '')}/data/"
        for artifact in (task.get("execution") or {}).get("artifacts") or []:
            uri = artifact.get("uri") or ""
            self._bring(id, session, uri[len(start):] if uri.startswith(start) else "", f"artifacts/{artifact['key']}")
        for model in task.get("offline_output_models") or []:
            path = (model.get("weights") or {}).get("weights_filename") or ""
            self._bring(id, session, "", f"models/{posixpath.basename(path)}")
        script = task.get("script") or {}
        # Without a repository, it is the whole program.
        program = "uncommitted.diff" if script.get("repository") else script.get("entry_point") or "program"
        texts = {program: script.get("diff")}
        for name, text in (script.get("requirements") or {}).items():
            texts[f"requirements.{name}.txt"] = text if isinstance(text, str) else json.dumps(text)
        for name, text in texts.items():
            if text:
                self.add(id, f"clearml/{name}", text)
        for name, part in (task.get("configuration") or {}).items():
            self.add(id, f"clearml/configuration/{name}", part.get("value") or "")

    def _bring(self, id, session, inside, path):
        name = f"data/{inside}"
        if not inside or not session.has(name):
            return self.omit(id, "files that are not in the session")
        ending = posixpath.splitext(inside)[1]
        path = path if path.endswith(ending) else path + ending
        if session.is_zip:
            self.add(id, path, b"")
            with session.open(name) as file:
                for part in iter(lambda: file.read(1 << 20), b""):
                    self.add(id, path, part, is_more=True)
        else:
            self.link(id, path, os.path.join(session.path, name))


class Session:
    def __init__(self, path):
        self.path = path
        self.is_zip = os.path.isfile(path)
        self._zip = zipfile.ZipFile(path) if self.is_zip else None

    def has(self, name):
        return name in self._zip.NameToInfo if self._zip else os.path.isfile(os.path.join(self.path, name))

    def open(self, name):
        return self._zip.open(name) if self._zip else open(os.path.join(self.path, name), "rb")


def sessions(path):
    """Yield the session that a path is, or those in a folder: of a folder and its zip, which are one, the folder."""
    candidates = [path]
    if os.path.isdir(path) and not os.path.isfile(os.path.join(path, "task.json")):
        candidates = [os.path.join(path, name) for name in sorted(os.listdir(path))]
    for one in candidates:
        is_session = os.path.isfile(os.path.join(one, "task.json"))
        if is_session or (zipfile.is_zipfile(one) and "task.json" in zipfile.ZipFile(one).NameToInfo):
            yield Session(one)


def project_of(task):
    return task.get("project_name") or "clearml"


STATUSES = {"failed": "FAILED", "stopped": "KILLED"}


def describe(id, session, task, first):
    execution = task.get("execution") or {}
    script = task.get("script") or {}
    params = [
        (f"{section}/{name}", part.get("value"))
        for section, values in (task.get("hyperparams") or {}).items()
        if section != "properties"
        for name, part in values.items()
    ]
    params += [item for item in (execution.get("parameters") or {}).items() if not task.get("hyperparams")]
    properties = (task.get("hyperparams") or {}).get("properties") or {}
    facts = {
        "mlflow.note.content": task.get("comment"),
        "mlflow.source.git.commit": script.get("version_num"),
        "mlflow.source.git.repoURL": script.get("repository"),
        "mlflow.source.git.branch": script.get("branch"),
        "clearml.type": task.get("type"),
        "clearml.entry_point": script.get("entry_point"),
        "clearml.parent": task.get("parent"),
    }
    tags = [(tag, "true") for tag in task.get("tags") or []]
    tags += [(name, part.get("value")) for name, part in properties.items()]
    tags += [(key, value) for key, value in facts.items() if value]
    size = os.path.getsize(session.path) if session.is_zip else folder_size(session.path)
    return {
        "id": id,
        "name": task.get("name") or id,
        # An offline session is closed: most have no status.
        "status": STATUSES.get(task.get("status"), "FINISHED"),
        "user": task.get("user") or "",
        "start": milliseconds(task.get("started") or task.get("created")) or first,
        "end": milliseconds(task.get("completed") or task.get("last_update")),
        "params": pairs((key, "" if value is None else value) for key, value in params),
        "tags": pairs(tags),
        "state": f"{size} bytes",
    }


def folder_size(path):
    names = ("task.json", "metrics.jsonl", "log.jsonl")
    return sum(os.path.getsize(os.path.join(path, name)) for name in names if os.path.isfile(os.path.join(path, name)))


def milliseconds(written):
    if not written:
        return None
    when = datetime.fromisoformat(written.replace("Z", "+00:00"))
    return round((when if when.tzinfo else when.replace(tzinfo=timezone.utc)).timestamp() * 1000)
