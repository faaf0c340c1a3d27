"""Reads what Comet records offline: an archive of messages and files for each experiment."""
import json
import os
import posixpath
import zipfile

from source import Source, lines, number, pairs, system, text_in, whole

AUTOMATIC = ("curr_step", "curr_epoch")
"""Params that Comet changes at every step."""

FLAGS = ("Name", "offline_experiment", "hasNestedParams")
"""Texts that Comet keeps for itself."""

FOLDERS = {
    "visualization": "media/images",
    "image": "media/images",
    "audio": "media/audio",
    "video": "media/video",
    "figure": "media/figures",
    "histogram3d": "media/histogram3d",
    "text-sample": "media/text",
    "source_code": "source",
}

FACTS = {"comet.workspace": ["workspace"], "comet.experiment_key": ["experiment_key", "previous_experiment"]}
"""Tags for facts of an archive."""

OTHERS = "import/comet.ndjson"
"""Every message that has no other form here, without environment variables, and what is said of files."""


def open_source(path, scratch):
    return CometArchives(path, scratch)


class CometArchives(Source):
    def __init__(self, path, scratch):
        super().__init__(scratch)
        self._epochs = {}
        paths = [path]
        if os.path.isdir(path):
            paths = [os.path.join(path, name) for name in sorted(os.listdir(path)) if name.endswith(".zip")]
        parts = []
        for one in paths:
            try:
                parts.append(part_at(one))
            except Exception as error:
                # One that is damaged in any way does not keep the others back.
                self.unread.append(f"{one}: {error}")
        self._experiments = {}
        # An experiment comes before what was added to it.
        for part in sorted(parts, key=lambda part: part.order):
            if part.is_continuation and part.id in self._experiments:
                self._experiments[part.id].append(part)
            elif self.is_first(part.id, part.path):
                self._experiments[part.id] = [part]

    def experiments(self):
        for name in sorted({project_of(parts) for parts in self._experiments.values()}):
            yield {"id": name, "name": name, "tags": [], "isDeleted": False}

    def runs(self, project):
        for id, parts in self._experiments.items():
            if project_of(parts) != project:
                continue
            try:
                described = self._describe(id, parts)
            except Exception as error:
                self.unread.append(f"{parts[0].path}: {error}")
                continue
            yield described

    def _describe(self, id, parts):
        params, others, fractions = {}, {}, set()
        for kind, payload, _ in self._messages(id, parts):
            with self.each(id):
                if kind == "parameter_msg":
                    param = payload.get("param") or payload["params"]
                    if param.get("source") != "auto-logged" or param["paramName"] not in AUTOMATIC:
                        params[in_context(payload, param["paramName"].replace("|", "."))] = param["paramValue"]
                elif kind == "log_other":
                    others[payload["key"]] = payload["value"]
                elif kind == "git_metadata":
                    git = payload.get("git_metadata") or {}
                    others["mlflow.source.git.commit"] = git.get("parent")
                    others["mlflow.source.git.repoURL"] = git.get("origin")
                    others["mlflow.source.git.branch"] = git.get("branch")
                elif kind == "metric_msg":
                    # Those that are damaged are counted where their values are read.
                    metric = payload.get("metric") if isinstance(payload, dict) else None
                    name, step = (metric.get("metricName"), metric.get("step")) if isinstance(metric, dict) else (None, None)
                    # A program may log its epochs itself.
                    if name == "epoch":
                        self._epochs[id] = "comet.epoch"
                    if isinstance(step, float):
                        fractions.add(step % 1)
        tags = [(tag, "true") for part in parts for tag in part.facts.get("tags") or []]
        tags += [(key, value) for key, value in others.items() if key not in FLAGS and value is not None]
        for tag, names in FACTS.items():
            found = [part.facts[name] for part in parts for name in names if part.facts.get(name)]
            tags += [(tag, found[0])] if found else []
        tags += self.scale(id, fractions, "comet.step_factor")
        end = parts[-1].facts.get("stop_time")
        return {
            "id": id,
            "name": str(others.get("Name") or id),
            "status": "FINISHED" if end else "FAILED",
            "user": "",
            "start": parts[0].facts.get("start_time"),
            "end": end,
            "params": pairs(params.items()),
            "tags": pairs(tags),
            "state": f"{sum(os.path.getsize(part.path) for part in parts)} bytes",
        }

    def _messages(self, id, parts, counts=False):
        for part in parts:
            with part.archive.open("messages.json") as file:
                for line in lines(file):
                    try:
                        message = json.loads(line)
                        found = message["type"], message["payload"], part
                    except (ValueError, KeyError, TypeError, RecursionError):
                        if counts:
                            self.omit(id, "messages that are torn")
                    else:
                        yield found

    def points(self, id):
        epochs, last = set(), 0
        parts = self._experiments[id]
        for kind, payload, part in self._messages(id, parts, counts=True):
            with self.each(id):
                if kind == "metric_msg":
                    metric, when = payload["metric"], payload["local_timestamp"]
                    # Without a step, a value belongs to the step before it.
                    last = last if metric.get("step") is None else metric["step"]
                    step = self.step(id, last)
                    name = in_context(payload, metric["metricName"])
                    value = number(metric["metricValue"])
                    if value is None:
                        self.history(id, last, name, metric["metricValue"])
                        continue
                    yield system(name[4:]) if name.startswith("sys.") else name, value, when, step
                    epoch = metric.get("epoch")
                    epoch_name = in_context(payload, "epoch")
                    if epoch_name == "epoch":
                        epoch_name = self._epochs.get(id, "epoch")
                    if epoch is not None and (epoch_name, step) not in epochs:
                        epochs.add((epoch_name, step))
                        yield epoch_name, epoch, when, step
                elif kind == "standard_output":
                    self.add(id, "output.log", payload.get("output") or "", is_more=True)
                elif kind not in ("parameter_msg", "log_other", "git_metadata"):
                    payload.pop("env", None)
                    if kind == "file_upload":
                        payload["path"] = self._bring(id, part, payload)
                    elif kind == "remote_file":
                        self.omit(id, f"files that are kept elsewhere: their addresses are in {OTHERS}")
                    self.add(id, OTHERS, json.dumps({"type": kind, **payload}) + "\n", is_more=True)
        for part in parts:
            # Items of a message, such as those of a scene of points, have a form of their own. Comet keeps some files twice.
            known = {content_of(part.archive, name) for name in part.brought}
            for inside in part.archive.namelist():
                if content_of(part.archive, inside) not in known and not inside.endswith("/"):
                    with self.each(id, "files that are damaged"):
                        self.unpack(id, self.free(id, f"comet/{inside}"), part.archive, inside)

    def _bring(self, id, part, payload):
        """Make a file of the run from one in the archive. Return its path."""
        inside = payload.get("file_path") or ""
        if inside not in part.archive.NameToInfo:
            return self.omit(id, "files that are not in the archive")
        part.brought.add(inside)
        facts = payload.get("additional_params") or {}
        kind = payload.get("upload_type") or "asset"
        # A program may be uploaded by its whole path.
        given = (facts.get("fileName") or facts.get("figName") or facts.get("name") or inside).lstrip("/")
        name, ending = posixpath.splitext(given)
        if name == "auto-generated-in-the-backend":
            name, ending = kind, ".txt"
        if kind in FOLDERS and kind != "source_code":
            ending = ending or {"histogram3d": ".json"}.get(kind) or f".{facts.get('extension') or 'png'}"
            step = None if facts.get("step") is None else self.step(id, facts["step"])
            path = f"{FOLDERS[kind]}/{name}" + ("" if step is None else f"_step_{step}") + ending
        else:
            group = facts.get("groupingName")
            path = posixpath.join(FOLDERS.get(kind, "assets"), group or "", name + ending)
        path, wanted = self.free(id, path), path
        if path != wanted:
            self.omit(id, "files of one name: the later ones have a number")
        self.unpack(id, path, part.archive, inside)
        return path


class Part:
    """An archive: of an experiment, or of what was added to one later."""

    def __init__(self, path, archive, facts):
        self.path, self.archive, self.facts = path, archive, facts
        self.id = text_in(facts, "offline_id")
        self.project = text_in(facts, "project_name", "general")
        self.is_continuation = facts.get("resume_strategy") == "get"
        start = facts.get("start_time")
        self.order = (self.is_continuation, start if isinstance(start, (int, float)) else 0)
        self.brought = {"experiment.json", "messages.json"}


def content_of(archive, name):
    facts = archive.NameToInfo.get(name)
    return facts and (facts.CRC, facts.file_size)


def part_at(path):
    archive = zipfile.ZipFile(path)
    with archive.open("experiment.json") as file:
        return Part(path, archive, json.loads(whole(file)))


def project_of(parts):
    """Return the project of an experiment. What was added to it often names none."""
    return next((part.project for part in parts if part.facts.get("project_name")), parts[0].project)


def in_context(payload, name):
    """Return the name of a value as Comet shows it: with what the program was doing, such as to train."""
    context = payload.get("context")
    return f"{context}_{name}" if context else name
