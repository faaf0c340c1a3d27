"""A run: the experiment of the job, or another one of the same program."""
import fnmatch
import glob
import math
import os
import sys
import time
import uuid

from mps_recorder import Recorder, does_nothing, flat, guarded, number, plain, unknown

from . import _artifact
from ._artifact import Artifact
from ._config import Config, Summarized, Summary
from ._state import says

# Runs that this program began, by their id: another init with the id and resume goes on with one.
_known = {}


class Metric:
    """What define_metric returns."""

    def __init__(self, name, **others):
        self.name = name
        self.__dict__.update(others)


class Run:
    def __init__(self, project=None, name=None, config=None, tags=None, notes=None, group=None, job_type=None,
                 id=None, mode=None, dir=None, settings=None, config_exclude_keys=None, config_include_keys=None,
                 resume=None, entity=None, sweep=None, **others):
        asked = {"resume_from": None, "fork_from": None, **others}
        for name_of, value in asked.items():
            if value is not None and name_of not in _QUIET:
                says("init(%s=…) does nothing here" % name_of)
        given = vars(settings) if settings is not None and not isinstance(settings, dict) else settings or {}

        def of(value, variable, setting):
            return value or given.get(setting) or os.environ.get(variable)

        mode = of(mode, "WANDB_MODE", "mode")
        is_disabled = mode == "disabled" or os.environ.get("WANDB_DISABLED", "").lower() in ("1", "true")
        self.settings = given if settings is None else settings
        self.project = of(project, "WANDB_PROJECT", "project") or "project"
        self.entity = of(entity, "WANDB_ENTITY", "entity") or ""
        self.group = of(group, "WANDB_RUN_GROUP", "run_group")
        self.job_type = of(job_type, "WANDB_JOB_TYPE", "run_job_type")
        self.id = of(id, "WANDB_RUN_ID", "run_id") or uuid.uuid4().hex[:8]
        tags = of(tags, "WANDB_TAGS", "run_tags") or ()
        self._tags = tuple(tags.split(",") if isinstance(tags, str) else map(str, tags))
        self._notes = of(notes, "WANDB_NOTES", "run_notes")
        self.start_time = time.time()
        self.offline = mode in ("offline", "dryrun")
        self.sweep_id, self._sweep_values = sweep or (None, {})
        self.step = self.starting_step = 0
        self._row, self._axes, self._kinds, self._totals, self._saved = {}, [], [], {}, []
        self._ended = False
        former = _known.get(self.id) if resume else None
        if former is not None:
            former.reopen()
        self._recorder = former or Recorder(
            says, name=of(name, "WANDB_NAME", "run_name"), notes=self._notes, tags=self._tags,
            disabled=is_disabled, is_child=sweep is not None)
        _known[self.id] = self._recorder
        self.disabled = self._recorder.is_disabled
        self.dir = self.sync_dir = self._recorder.folder
        os.makedirs(self.dir, exist_ok=True)
        self.config = Config(self)
        self.summary = Summary(self)
        self.resumed = bool(resume) and self._resume()
        if resume == "must" and not self.resumed:
            says("init(resume=\"must\") begins here: there is no earlier attempt")
        facts = {"wandb.project": self.project, "wandb.group": self.group, "wandb.job_type": self.job_type}
        for key, value in facts.items():
            if value:
                self._recorder.tag(key, value)
        if self._recorder.name is None:
            self._recorder.name = self._recorder.run_id or "run"
        self.config._fix(self._sweep_values)
        defaults = "config-defaults.yaml"
        if os.path.isfile(defaults):
            self.config.update({key: one.get("value") if isinstance(one, dict) else one
                                for key, one in plain(defaults, says).items() if key != "wandb_version"})
        values = plain(config, says)
        kept = values if not config_include_keys else {k: v for k, v in values.items() if k in config_include_keys}
        self.config.update({k: v for k, v in kept.items() if k not in (config_exclude_keys or ())})

    def _resume(self):
        """Go on where an earlier attempt of the job, or run of this program, ended."""
        metrics, params, step = self._recorder.past()
        self.step = self.starting_step = step
        for key, value in metrics.items():
            self.summary._note(key, value)
        for key, value in params.items():
            self.config._values[key] = value
        return bool(metrics or params)

    # -- what a program reads and assigns

    @property
    def name(self):
        return self._recorder.name

    @name.setter
    def name(self, value):
        self._recorder.rename(value)

    @property
    def notes(self):
        return self._notes

    @notes.setter
    def notes(self, value):
        self._notes = value
        self._recorder.note(value or "")

    @property
    def tags(self):
        return self._tags

    @tags.setter
    def tags(self, values):
        values = tuple(map(str, values or ()))
        for one in values:
            if one not in self._tags:
                self._recorder.tag(one, "true")
        for one in self._tags:
            if one not in values:
                self._recorder.untag(one)
        self._tags = values

    @property
    def path(self):
        return "/".join(filter(None, (self.entity, self.project, self.id)))

    @property
    def config_static(self):
        return self.config

    url = sweep_url = project_url = property(lambda self: None)

    # -- what a program records

    @guarded(says)
    def log(self, data=None, step=None, commit=None, sync=None):
        if self._ended:
            return
        if step is not None and step > self.step:
            self._write()
            self.step = int(step)
        elif step is not None and step < self.step:
            says("a step below %d is left out: steps only increase" % self.step)
            return
        for key, value in flat(data or {}):
            found = number(value)
            if found is not None or isinstance(value, str):
                self._row[key] = value if found is None else found
            else:
                # The program may change it before the step ends.
                self._recorder.value(key, value, self.step)
        if commit or (commit is None and step is None):
            self._write()
            self.step += 1

    def _write(self):
        row, self._row = self._row, {}
        for key, value in row.items():
            found = number(value)
            if found is None:
                self._recorder.value(key, value, self.step)
                self.summary._note(key, value)
                continue
            axis = self._axis_of(key)
            # A row without the axis belongs to its last value.
            at = number(row.get(axis, self.summary.get(axis))) if axis is not None else None
            self._recorder.metric(key, found, self.step if at is None or not math.isfinite(at) else int(at))
            self._summarize(key, found)

    def _axis_of(self, key):
        for pattern, axis in reversed(self._axes):
            if axis != key and fnmatch.fnmatchcase(key, pattern):
                return axis
        return None

    def _summarize(self, key, value):
        """The summary is the last value, or what define_metric says."""
        kind = next((kind for pattern, kind in reversed(self._kinds) if fnmatch.fnmatchcase(key, pattern)), "last")
        low, high, first, total, count = self._totals.get(key, (value, value, value, 0.0, 0))
        low, high, total, count = min(low, value), max(high, value), total + value, count + 1
        self._totals[key] = low, high, first, total, count
        found = {"min": low, "max": high, "first": first, "mean": total / count}.get(kind, value)
        if kind != "none":
            self.summary._note(key, found if kind == "last" else Summarized(found, kind))

    @guarded(says)
    def _param(self, key, value):
        for name, one in flat(value, key + ".") if isinstance(value, dict) and value else [(key, value)]:
            self._recorder.param(name, one)

    @guarded(says)
    def _final(self, key, value):
        if isinstance(value, (list, tuple)) and all(number(one) is not None or isinstance(one, str) for one in value):
            self._recorder.tag(key, value)
        elif isinstance(value, str):
            self._recorder.tag(key, value)
        else:
            self._recorder.value(key, value, self.step)

    @guarded(says)
    def define_metric(self, name, step_metric=None, step_sync=None, hidden=None, summary=None, goal=None,
                      overwrite=None, **others):
        axis = getattr(step_metric, "name", step_metric)
        if axis is not None:
            self._axes.append((name, axis))
        for kind in (summary or "").split(","):
            if kind in ("best", ""):
                kind = {"maximize": "max", "minimize": "min"}.get(goal, "min") if kind else None
            if kind in ("min", "max", "mean", "first", "last", "none"):
                self._kinds.append((name, kind))
            elif kind is not None:
                says("define_metric(summary=%r) does nothing here" % kind)
        return Metric(name, step_metric=axis, summary=summary, goal=goal, hidden=hidden)

    @guarded(says)
    def alert(self, title, text="", level=None, wait_duration=None):
        print("wandb: alert: %s: %s" % (title, text), file=sys.stderr, flush=True)

    def save(self, glob_str=None, base_path=None, policy="live"):
        if (glob_str, base_path) not in self._saved:
            self._saved.append((glob_str, base_path))
        return self._save(glob_str, base_path)

    def _save(self, glob_str, base_path):
        kept = [self._save_file(path, base_path) for path in glob.glob(str(glob_str or "")) if os.path.isfile(path)]
        return [path for path in kept if path is not None]

    @guarded(says)
    def _save_file(self, path, base_path):
        inside = os.path.relpath(path, base_path) if base_path else os.path.basename(path)
        return self._recorder.file(path, inside)

    def restore(self, name, run_path=None, replace=False, root=None):
        path = os.path.join(self.dir, name)
        if os.path.isfile(path):
            return open(path)
        says("restore finds no file of an earlier run here: use CHECKPOINT_DIR")
        return None

    def log_artifact(self, artifact_or_path, name=None, type=None, aliases=None, tags=None):
        made = artifact_or_path
        if not isinstance(made, Artifact):
            made = Artifact(name or os.path.basename(str(artifact_or_path)), type or "file")
            (made.add_dir if os.path.isdir(artifact_or_path) else made.add_file)(str(artifact_or_path))
        made.aliases = list(aliases or ["latest"])
        made._keep(self)
        return made

    upsert_artifact = finish_artifact = log_artifact

    def log_model(self, path, name=None, aliases=None):
        return self.log_artifact(path, name=name, type="model", aliases=aliases)

    def use_artifact(self, artifact_or_name, type=None, aliases=None, use_as=None):
        if isinstance(artifact_or_name, Artifact):
            return artifact_or_name
        return _artifact.used(artifact_or_name)

    def use_model(self, name):
        found = _artifact.used(name)
        return found.file() if found.file_count == 1 else found.download()

    def finish(self, exit_code=None, quiet=None):
        if self._ended:
            return
        if not self._recorder.is_inherited:
            if self._row:
                self._write()
            for saved in self._saved:
                # A file may have changed since the program named it.
                self._save(*saved)
        self._recorder.finish(exit_code)
        self._ended = True
        from . import _ended
        _ended(self)

    join = finish

    def get_url(self):
        return None

    get_project_url = get_sweep_url = get_url

    def project_name(self):
        return self.project

    def status(self):
        return Metric("status", sync_items_pending=0, sync_items_total=0)

    def to_html(self, height=420, hidden=False):
        return ""

    def display(self, height=420, hidden=False):
        return False

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        self.finish(exit_code=1 if kind is not None else 0)

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return unknown("run." + name, says)


# Arguments of init that change nothing that is recorded.
_QUIET = ("reinit", "save_code", "anonymous", "force", "allow_val_change", "monitor_gym", "magic",
          "tensorboard", "sync_tensorboard")

_WHY = {
    "watch": "keeps no gradients here",
    "unwatch": "does nothing here",
    "log_code": "does nothing here: the experiment has its source",
    "link_artifact": "links nothing here",
    "link_model": "links nothing here",
    "mark_preempting": "does nothing here: a job that loses its machine is tried again",
    "write_logs": "does nothing here: what a program prints is its log",
}
for _name, _why in _WHY.items():
    setattr(Run, _name, staticmethod(does_nothing(_name, says, why=_why)))
