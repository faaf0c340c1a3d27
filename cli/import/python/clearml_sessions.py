"""Reads what ClearML records offline: a folder, or its zip, for each task."""
import json
import mimetypes
import os
import posixpath
import time
import zipfile

from source import FRESH_SECONDS, Source, lines, milliseconds, number, pairs, system, text_in, whole


def open_source(path, scratch):
    return ClearmlSessions(path, scratch)


class ClearmlSessions(Source):
    def __init__(self, path, scratch):
        super().__init__(scratch)
        self._tasks = {}
        brought = set()
        for one in candidates(path):
            # Of a session that it closes, ClearML keeps the folder beside its zip.
            if one.endswith(".zip") and one[: -len(".zip")] in brought:
                continue
            try:
                session = session_at(one)
                if session is None:
                    continue
                with session.open("task.json") as file:
                    task = json.loads(whole(file))
                project = text_in(task, "project_name", "clearml")
                id = text_in(task, "id")
                if self.is_first(id, one):
                    self._tasks[id] = (session, task, project)
                    brought.add(one)
            except Exception as error:
                # One that is damaged in any way does not keep the others back.
                self.unread.append(f"{one}: {error}")

    def experiments(self):
        for name in sorted({project for _, _, project in self._tasks.values()}):
            yield {"id": name, "name": name, "tags": [], "isDeleted": False}

    def runs(self, project):
        for id, (session, task, its_project) in self._tasks.items():
            if its_project != project:
                continue
            try:
                first = next((event.get("timestamp") for event in self._events(id, session, "log.jsonl")), None)
                described = describe(id, session, task, first)
            except Exception as error:
                self.unread.append(f"{session.path}: {error}")
                continue
            yield described

    def points(self, id):
        session, task, _ = self._tasks[id]
        for event in self._events(id, session, "metrics.jsonl"):
            with self.each(id):
                yield from self._points_of(id, session, event)
        for event in self._events(id, session, "log.jsonl"):
            with self.each(id):
                line = event.get("msg") or ""
                self.add(id, "output.log", line if line.endswith("\n") else f"{line}\n", is_more=True)
        self._keep_artifacts(id, session, task)

    def _points_of(self, id, session, event):
        kind, step = event.get("type"), event.get("iter") or 0
        if step == NO_ITERATION:
            step = 0
        title, series = event.get("metric") or "", event.get("variant") or ""
        # As ClearML draws it: a title with one series of its own name.
        key = title if series in ("", title) else f"{title}/{series}"
        if event.get("model_event"):
            self.omit(id, "metrics of models")
        elif kind == "training_stats_scalar":
            machine = key.startswith(":monitor:")
            yield system(key[9:]) if machine else key, number(event["value"]), event["timestamp"], step
        elif kind == "plot":
            self.add(id, f"media/plotly/{title}/{series}_step_{step}.plotly.json", event.get("plot_str") or "")
        elif kind == "training_debug_image":
            path = f"media/{medium_of(event)}/{title}/{series}_step_{step}"
            if not self._bring(id, session, event.get("key") or "", path):
                # It may be at an address.
                self.history(id, step, key, event)
        else:
            self.history(id, step, key, event)

    def _events(self, id, session, name):
        if not session.has(name):
            return
        with session.open(name) as file:
            for line in lines(file):
                try:
                    events = json.loads(line)
                except (ValueError, RecursionError):
                    events = None
                if isinstance(events, list) and all(isinstance(event, dict) for event in events):
                    yield from events
                else:
                    self.omit(id, f"lines of {name} that are torn")

    def _keep_artifacts(self, id, session, task):
        start = f"{task.get('offline_folder', '')}/data/"
        for artifact in (task.get("execution") or {}).get("artifacts") or []:
            with self.each(id):
                uri = artifact.get("uri") or ""
                self._bring(id, session, uri[len(start):] if uri.startswith(start) else "", f"artifacts/{artifact['key']}")
        for model in task.get("offline_output_models") or []:
            with self.each(id):
                path = (model.get("weights") or {}).get("weights_filename") or ""
                self._bring(id, session, "", f"models/{posixpath.basename(path)}")
        for inside in session.data():
            # Files of events that this command does not know.
            if inside not in session.brought:
                with self.each(id):
                    self._bring(id, session, inside, f"clearml/data/{inside}")
        script = task.get("script") or {}
        # Without a repository, it is the whole program.
        program = "uncommitted.diff" if script.get("repository") else script.get("entry_point") or "program"
        texts = {program: script.get("diff")}
        for name, text in (script.get("requirements") or {}).items():
            texts[f"requirements.{name}.txt"] = text if isinstance(text, str) else json.dumps(text)
        self.add(id, "clearml/task.json", json.dumps(task, indent=2))
        for name, text in texts.items():
            if text:
                self.add(id, f"clearml/{name}", text)
        for name, part in (task.get("configuration") or {}).items():
            with self.each(id):
                self.add(id, f"clearml/configuration/{name}", part.get("value") or "")

    def _bring(self, id, session, inside, path):
        """Make a file of the run from one of the session. Return whether it is there."""
        name = f"data/{inside}"
        if not inside or not session.has(name):
            self.omit(id, "files that are not in the session")
            return False
        session.brought.add(inside)
        ending = ending_of(inside)
        path = path if path.endswith(ending) else path + ending
        if session.zip:
            self.unpack(id, path, session.zip, name)
        else:
            self.link(id, path, os.path.join(session.path, name), os.path.join(session.path, "data"))
        return True


NO_ITERATION = -(2**31)
"""Iteration of a single value, such as the result of a task."""

MEDIA = {"image": "images", "audio": "audio", "video": "video"}


def medium_of(event):
    """Return the folder for a debug sample: a picture, sound or any other file."""
    kind = mimetypes.guess_type(event.get("key") or "")[0] or ""
    return MEDIA.get(kind.split("/")[0], "files")


def ending_of(name):
    """Return the ending of a name, both of one that is compressed."""
    start, ending = posixpath.splitext(name)
    return posixpath.splitext(start)[1] + ending if ending == ".gz" else ending


class Session:
    def __init__(self, path):
        self.path = path
        self.zip = zipfile.ZipFile(path) if os.path.isfile(path) else None
        self.brought = set()
        # ClearML makes a zip when it closes a session, beside its folder.
        self.is_closed = bool(self.zip) or os.path.isfile(f"{path.rstrip(os.sep)}.zip")

    def has(self, name):
        return name in self.zip.NameToInfo if self.zip else os.path.isfile(os.path.join(self.path, name))

    def data(self):
        """Return the paths of all files below the folder of data."""
        top = os.path.join(self.path, "data")
        found = [os.path.join(folder, name) for folder, _, names in os.walk(top) for name in names]
        names = self.zip.namelist() if self.zip else [os.path.relpath(one, self.path).replace(os.sep, "/") for one in found]
        return [name[len("data/"):] for name in names if name.startswith("data/") and not name.endswith("/")]

    def open(self, name):
        return self.zip.open(name) if self.zip else open(os.path.join(self.path, name), "rb")


def candidates(path):
    """Return the path, or those in a folder of sessions: of a folder and its zip, which are one, the folder is first."""
    if os.path.isdir(path) and not os.path.isfile(os.path.join(path, "task.json")):
        return [os.path.join(path, name) for name in sorted(os.listdir(path))]
    return [path]


def session_at(path):
    """Return the session that a path is; None if it is none."""
    if not os.path.isdir(path) and not zipfile.is_zipfile(path):
        return None
    session = Session(path)
    return session if session.has("task.json") else None


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
    size = os.path.getsize(session.path) if session.zip else folder_size(session.path)
    status = STATUSES.get(task.get("status"), "FINISHED" if session.is_closed else "FAILED")
    if not session.is_closed:
        is_live = time.time() - max(map(os.path.getmtime, files_of(session.path))) < FRESH_SECONDS
        status = "RUNNING" if is_live else status
        tags += [] if is_live else [("import.reason", "The session was not closed: there is no zip of it beside its folder.")]
    return {
        "id": id,
        "name": task.get("name") or id,
        "status": status,
        "user": task.get("user") or "",
        "start": milliseconds(task.get("started") or task.get("created")) or first,
        "end": milliseconds(task.get("completed") or task.get("last_update")),
        "params": pairs((key, "" if value is None else value) for key, value in params),
        "tags": pairs(tags),
        "state": f"{size} bytes, {status}",
    }


def folder_size(path):
    return sum(map(os.path.getsize, files_of(path)))


def files_of(path):
    paths = [os.path.join(path, name) for name in ("task.json", "metrics.jsonl", "log.jsonl")]
    return [one for one in paths if os.path.isfile(one)]
