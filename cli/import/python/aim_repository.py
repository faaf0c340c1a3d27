"""Reads a repository of Aim by Aim itself: its format is a RocksDB with an encoding of its own."""
import json
import os
import sqlite3
import time
from urllib.parse import unquote, urlparse

from source import FRESH_SECONDS, Source, flat, number, pairs, system, text
from sqlite_file import SqliteFile

POINTS_AT_ONCE = 5000
MACHINE = "__system__"


def open_source(path, scratch):
    return AimRepository(path, scratch)


class AimRepository(Source):
    def __init__(self, path, scratch):
        from aim.sdk.repo import Repo, RepoStatus

        super().__init__(scratch)
        root = os.path.dirname(path) if os.path.basename(path.rstrip(os.sep)) == ".aim" else path
        self._root = root
        status = Repo.check_repo_status(root)
        if status in (RepoStatus.UPDATE_REQUIRED, RepoStatus.PATCH_REQUIRED):
            raise ValueError("an older Aim has written it, and Aim would change it. Copy it, and run `aim up` on the copy once")
        self._repo = Repo(root) if status == RepoStatus.UPDATED else None
        self._names = {}

    def experiments(self):
        names = {self._experiment_of(hash) for hash in self._hashes()}
        sql = "SELECT name, description FROM experiment WHERE description IS NOT NULL AND description != ''"
        notes = dict(self._written(sql)) if names else {}
        for name in sorted(names):
            tags = pairs([("mlflow.note.content", notes[name])] if name in notes else [])
            yield {"id": name, "name": name, "tags": tags, "isDeleted": False}

    def _hashes(self):
        return [] if self._repo is None else sorted(self._repo.list_all_runs())

    def _run(self, hash):
        """Open a run by its own database. The index of a repository lacks runs until Aim's server has seen them."""
        from aim import Run

        ask = self._repo.request_tree

        def request_tree(name, sub=None, *, read_only, **_):
            # Aim's optimization for reading would write.
            return ask(name, sub or hash, read_only=read_only, skip_read_optimization=True)

        self._repo.request_tree = request_tree
        run = Run(hash, repo=self._repo, read_only=True)
        # A run opens its series later.
        _ = run.series_run_trees
        self._repo.request_tree = ask
        return run

    def runs(self, experiment):
        for hash in self._hashes():
            try:
                is_of = self._experiment_of(hash) == experiment
                described = self._describe(self._run(hash)) if is_of else None
            except Exception as error:
                self.unread.append(f"run {hash}: {error}")
                continue
            if described:
                yield described

    def _experiment_of(self, hash):
        """Return the experiment of a run. Each experiment asks about all runs: open one with a name once."""
        if hash in self._names:
            return self._names[hash]
        try:
            name = self._run(hash).experiment or "default"
        except Exception:
            # The list of runs says why it cannot be read.
            return "default"
        # One that begins at this moment gets its name later.
        if name != "default":
            self._names[hash] = name
        return name

    def _describe(self, run):
        attributes = run.get(..., {})
        machine = attributes.pop("__system_params", None) or {}
        facts = {"git": machine.get("git_info") or {}, "arguments": " ".join(machine.get("arguments") or [])}
        tags = [(f"aim.{key}", value) for key, value in flat(plain(facts)) if value]
        if machine:
            # They may hold keys.
            self.omit(run.hash, "environment variables and packages that Aim recorded")
        if run.archived:
            tags.append(("aim.archived", "true"))
        if run.description:
            tags.append(("mlflow.note.content", run.description))
        tags += [(tag, "true") for tag in run.tags]
        series = self._series(run)
        contexts = {key: context for key, (_, context, _) in series.items() if context}
        if contexts:
            tags.append(("aim.contexts", json.dumps(contexts)))
        end = run.end_time
        is_live = not end and self._is_live(run.hash)
        steps = sum(run.meta_run_tree.get(("traces", index, name, "last_step"), 0) or 0 for _, _, (index, name) in series.values())
        return {
            "id": run.hash,
            "name": run.name or run.hash,
            "status": "RUNNING" if is_live else "FINISHED" if end else "FAILED",
            "user": "",
            "start": milliseconds(run.creation_time),
            "end": milliseconds(end),
            "params": pairs(flat(plain(attributes))),
            "tags": pairs(tags),
            "state": f"ended {end} at {steps}",
        }

    def _is_live(self, hash):
        flag = os.path.join(self._repo.path, "meta", "progress", hash)
        return os.path.exists(flag) and time.time() - os.path.getmtime(flag) < FRESH_SECONDS

    def _series(self, run, counts=False):
        """Return the sequences of a run by names of their own: Aim tells equal names apart by their contexts."""
        found = {}
        traces = run.meta_run_tree.subtree("traces")
        for context, name, dtype in [
            (run.idx_to_ctx(index), name, facts.get("dtype", "float"))
            for index in traces.keys()
            for name, facts in traces[index].items()
        ]:
            kind = kind_of(dtype)
            sequence = kind and run._get_sequence(kind, name, context)
            if not kind or sequence is None:
                if counts:
                    self.omit(run.hash, f"series of the kind {dtype}")
                continue
            key = base = key_of(name, context.to_dict())
            while key in found:
                key = f"{base}.{len(found)}"
            found[key] = (sequence, context.to_dict(), (context.idx, name))
        return found

    def points(self, hash):
        run = self._run(hash)
        epochs, series = set(), self._series(run, counts=True)
        for key, (sequence, _, _) in series.items():
            with self.each(hash, "series that are damaged"):
                if sequence.sequence_name() == "metric":
                    # A program may log its epochs itself.
                    yield from self._numbers(key, sequence, epochs, "aim.epoch" if "epoch" in series else "epoch")
                else:
                    self._keep(hash, key, sequence)
        self._keep_artifacts(hash, run)
        sql = "SELECT note.created_at, content FROM note JOIN run ON run.id = run_id WHERE hash = ? ORDER BY note.id"
        for when, content in self._written(sql, hash):
            self.add(hash, "import/notes.ndjson", json.dumps({"time": when, "text": content}) + "\n", is_more=True)

    def _written(self, sql, *values):
        """Return what people have written in Aim's pages, which is in a database of its own."""
        try:
            return SqliteFile(os.path.join(self._repo.path, "run_metadata.sqlite")).rows(sql, *values)
        except (OSError, ValueError, sqlite3.DatabaseError):
            # Repositories that no page has shown have none of it.
            return []

    def _numbers(self, key, sequence, epochs, epoch_name):
        steps, (values, epoch, times) = sequence.data.numpy()
        for at in range(0, len(steps), POINTS_AT_ONCE):
            part = slice(at, at + POINTS_AT_ONCE)
            rows = zip(steps[part].tolist(), values[part].tolist(), epoch[part].tolist(), times[part].tolist())
            for step, value, of_epoch, when in rows:
                yield key, number(value), milliseconds(when), step
                if of_epoch == of_epoch and of_epoch is not None and (step, of_epoch) not in epochs:
                    epochs.add((step, of_epoch))
                    yield epoch_name, number(of_epoch), milliseconds(when), step

    def _keep(self, hash, key, sequence):
        kind = sequence.sequence_name()
        for step, (value, *_) in sequence.data.items():
            for index, one in enumerate(value if isinstance(value, (list, tuple)) else [value]):
                with self.each(hash):
                    name = key if index == 0 else f"{key}.{index}"
                    if kind == "images":
                        self._add_medium(hash, step, key, f"images/{name}_step_{step}.{one.format.lower()}", one)
                    elif kind == "audios":
                        ending = one.json().get("format", "wav")
                        self._add_medium(hash, step, key, f"audio/{name}_step_{step}.{ending}", one)
                    elif kind == "distributions":
                        weights, edges = one.to_np_histogram()
                        self.histogram(hash, step, name, edges.tolist(), weights.tolist())
                    elif kind == "figures":
                        self.add(hash, f"media/plotly/{name}_step_{step}.plotly.json", one.data)
                    elif kind == "logs":
                        self.add(hash, "output.log", f"{one.data}\n", is_more=True)
                    elif kind == "texts":
                        self.history(hash, step, name, one.data)
                    else:
                        self.history(hash, step, name, text(one.json() if hasattr(one, "json") else str(one)))

    def _add_medium(self, hash, step, key, path, medium):
        path = self.add(hash, f"media/{path}", bytes_of(medium))
        caption = medium.json().get("caption")
        if caption:
            self.history(hash, step, key, {"caption": caption, "path": path})

    def _keep_artifacts(self, hash, run):
        for name, artifact in (run.artifacts or {}).items():
            uri = urlparse(artifact.uri)
            if uri.scheme in ("", "file"):
                self.link(hash, f"artifacts/{name}", unquote(uri.path), self._root)
            else:
                self.omit(hash, f"artifacts at {uri.scheme}:")


def kind_of(dtype):
    from aim.sdk.sequence import Sequence

    for kind, sequence in Sequence.registry.items():
        allowed = sequence.allowed_dtypes()
        if dtype in ((allowed,) if isinstance(allowed, str) else allowed):
            return kind
    return None


def key_of(name, context):
    if name.startswith(MACHINE):
        gpu = f"gpu_{context['gpu']}_" if "gpu" in context else ""
        return system(gpu + name[len(MACHINE):])
    parts = [str(value) if key == "subset" else f"{key}_{value}" for key, value in sorted(context.items())]
    return "/".join([*parts, name])


def plain(value):
    """Return attributes without the types that Aim keeps them in."""
    if isinstance(value, dict):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    return value if isinstance(value, (str, int, float, bool, type(None))) else str(value)


def bytes_of(media):
    data = media.storage["data"]
    return bytes(data.load() if hasattr(data, "load") else data)


def milliseconds(seconds):
    return None if seconds is None else round(seconds * 1000)
