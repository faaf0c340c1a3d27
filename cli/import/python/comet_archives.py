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

OTHERS = "import/comet.ndjson"
"""Every message that has no other form here, without environment variables."""


def open_source(path, scratch):
    return CometArchives(path, scratch)


class CometArchives(Source):
    def __init__(self, path, scratch):
        super().__init__(scratch)
        paths = [path]
        if os.path.isdir(path):
            paths = [os.path.join(path, name) for name in sorted(os.listdir(path)) if name.endswith(".zip")]
        self._archives = {}
        for one in paths:
            try:
                archive = zipfile.ZipFile(one)
                with archive.open("experiment.json") as file:
                    facts = json.loads(whole(file))
                project = text_in(facts, "project_name", "general")
                id = text_in(facts, "offline_id")
                if self.is_first(id, one):
                    self._archives[id] = (archive, facts, one, project)
            except Exception as error:
                # One that is damaged in any way does not keep the others back.
                self.unread.append(f"{one}: {error}")

    def experiments(self):
        for name in sorted({project for *_, project in self._archives.values()}):
            yield {"id": name, "name": name, "tags": [], "isDeleted": False}

    def runs(self, project):
        for id, (archive, facts, path, its_project) in self._archives.items():
            if its_project != project:
                continue
            try:
                described = self._describe(id, archive, facts, path)
            except Exception as error:
                self.unread.append(f"{path}: {error}")
                continue
            yield described

    def _describe(self, id, archive, facts, path):
        params, others = {}, {}
        for kind, payload in self._messages(id, archive):
            with self.each(id):
                if kind == "parameter_msg":
                    param = payload["param"]
                    if param.get("source") != "auto-logged" or param["paramName"] not in AUTOMATIC:
                        params[param["paramName"].replace("|", ".")] = param["paramValue"]
                elif kind == "log_other":
                    others[payload["key"]] = payload["value"]
                elif kind == "git_metadata":
                    git = payload.get("git_metadata") or {}
                    others["mlflow.source.git.commit"] = git.get("parent")
                    others["mlflow.source.git.repoURL"] = git.get("origin")
                    others["mlflow.source.git.branch"] = git.get("branch")
        tags = [(tag, "true") for tag in facts.get("tags") or []]
        tags += [(key, value) for key, value in others.items() if key not in FLAGS and value is not None]
        tags += [("comet.workspace", facts["workspace"])] if facts.get("workspace") else []
        key = facts.get("experiment_key") or facts.get("previous_experiment")
        tags += [("comet.experiment_key", key)] if key else []
        end = facts.get("stop_time")
        return {
            "id": id,
            "name": str(others.get("Name") or id),
            "status": "FINISHED" if end else "FAILED",
            "user": "",
            "start": facts.get("start_time"),
            "end": end,
            "params": pairs(params.items()),
            "tags": pairs(tags),
            "state": f"{os.path.getsize(path)} bytes",
        }

    def _messages(self, id, archive, counts=False):
        with archive.open("messages.json") as file:
            for line in lines(file):
                try:
                    message = json.loads(line)
                    found = message["type"], message["payload"]
                except (ValueError, KeyError, TypeError, RecursionError):
                    if counts:
                        self.omit(id, "messages that are torn")
                else:
                    yield found

    def points(self, id):
        archive = self._archives[id][0]
        epochs, last = set(), 0
        for kind, payload in self._messages(id, archive, counts=True):
            with self.each(id):
                if kind == "metric_msg":
                    metric, when = payload["metric"], payload["local_timestamp"]
                    # Without a step, a value belongs to the step before it.
                    last = step = last if metric.get("step") is None else metric["step"]
                    name = metric["metricName"]
                    value = number(metric["metricValue"])
                    if value is None:
                        self.history(id, step, name, metric["metricValue"])
                        continue
                    yield system(name[4:]) if name.startswith("sys.") else name, value, when, step
                    epoch = metric.get("epoch")
                    if epoch is not None and step not in epochs:
                        epochs.add(step)
                        yield "epoch", epoch, when, step
                elif kind == "standard_output":
                    self.add(id, "output.log", payload.get("output") or "", is_more=True)
                elif kind == "file_upload":
                    self._bring(id, archive, payload)
                elif kind == "remote_file":
                    self.omit(id, "files that are kept elsewhere")
                elif kind not in ("parameter_msg", "log_other", "git_metadata"):
                    payload.pop("env", None)
                    self.add(id, OTHERS, json.dumps({"type": kind, **payload}) + "\n", is_more=True)

    def _bring(self, id, archive, payload):
        inside = payload.get("file_path") or ""
        if inside not in archive.NameToInfo:
            return self.omit(id, "files that are not in the archive")
        facts = payload.get("additional_params") or {}
        kind = payload.get("upload_type") or "asset"
        name, ending = posixpath.splitext(facts.get("fileName") or facts.get("figName") or facts.get("name") or inside)
        if name == "auto-generated-in-the-backend":
            name, ending = kind, ".txt"
        if kind in FOLDERS and kind != "source_code":
            ending = ending or {"histogram3d": ".json"}.get(kind) or f".{facts.get('extension') or 'png'}"
            step = facts.get("step")
            path = f"{FOLDERS[kind]}/{name}" + ("" if step is None else f"_step_{step}") + ending
        else:
            group = facts.get("groupingName")
            path = posixpath.join(FOLDERS.get(kind, "assets"), group or "", name + ending)
        path, wanted = self.free(id, path), path
        if path != wanted:
            self.omit(id, "files of one name: the later ones have a number")
        self.unpack(id, path, archive, inside)
