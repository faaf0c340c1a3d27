/** The second part of the module that stands in for wandb: runs. It goes on where the first part ends. */
export const wandbRuns = `class Run:
    """A run: the experiment of the job, or another one of the same program."""

    def __init__(self, project=None, name=None, config=None, tags=None, notes=None, group=None, job_type=None,
                 id=None, mode=None, dir=None, settings=None, config_exclude_keys=None, config_include_keys=None,
                 **others):
        self.disabled = "disabled" in (mode, os.environ.get("WANDB_MODE"))
        if not self.disabled and not (_URI.startswith("http") and _OWN_RUN):
            _say("nothing is recorded here: this process belongs to no experiment")
            self.disabled = True
        self.project = project or os.environ.get("WANDB_PROJECT") or "project"
        self.name = name or os.environ.get("WANDB_NAME")
        self.entity = self.group = group
        self.job_type = job_type
        self.notes = notes
        self.tags = tuple([tags] if isinstance(tags, str) else tags or ())
        self.step = 0
        self.starting_step = 0
        self.resumed = False
        self.offline = False
        self.url = self.sweep_id = self.sweep_url = self.project_url = None
        self.start_time = time.time()
        self._row = {}
        self._axes = []
        self._media = 0
        self._ended = False
        self._sender = None
        self.id = id or uuid.uuid4().hex[:8]
        if not self.disabled:
            self._begin()
        self.dir = os.path.join(_OUTPUT, "wandb") if not self.disabled else os.path.join(os.environ.get("TMPDIR", "/tmp"), "wandb")
        os.makedirs(self.dir, exist_ok=True)
        self.config = Config(self)
        self.summary = Summary(self)
        values = _plain(config)
        kept = values if not config_include_keys else {k: v for k, v in values.items() if k in config_include_keys}
        self.config.update({k: v for k, v in kept.items() if k not in (config_exclude_keys or ())})

    def _begin(self):
        # The server lets the first run of a job be the job's experiment. Of several ranks that is the first one's.
        tags = []
        if (os.environ.get("RANK") or "0") != "0":
            tags.append({"key": "mlflow.parentRunId", "value": _OWN_RUN})
        body = {"experiment_id": _EXPERIMENT, "start_time": int(time.time() * 1000), "tags": tags}
        if self.name:
            body["run_name"] = str(self.name)
        try:
            run_id = _call("runs/create", body)["run"]["info"]["run_id"]
        except Exception as error:
            _say("this run is not recorded: %s" % error)
            self.disabled = True
            return
        self._sender = _Sender(run_id)
        facts = {"mlflow.note.content": self.notes, "wandb.project": self.project, "wandb.group": self.group,
                 "wandb.job_type": self.job_type}
        for key, value in facts.items():
            if value:
                self._sender.add("tags", key=key, value=str(value)[:5000])
        for tag in self.tags:
            self._sender.add("tags", key=str(tag)[:200], value="true")
        if self.name is None:
            self.name = run_id

    # -- what a program records

    @_guarded
    def log(self, data=None, step=None, commit=None, sync=None):
        if self._ended:
            return
        if step is not None and step > self.step:
            self._write()
            self.step = int(step)
        elif step is not None and step < self.step:
            _say("a step below %d is left out: steps only increase" % self.step)
            return
        self._row.update(_flat(data or {}))
        if commit or (commit is None and step is None):
            self._write()
            self.step += 1

    def _write(self):
        row, self._row = self._row, {}
        numbers = {}
        for key, value in row.items():
            number = _number(value)
            if isinstance(value, _Unknown):
                continue
            if number is not None:
                numbers[key] = number
            elif isinstance(value, (list, tuple)) and value and all(hasattr(one, "_save") for one in value):
                for at, one in enumerate(value):
                    self._save_media("%s_%d" % (key, at), one)
            elif hasattr(value, "_save"):
                self._save_media(key, value)
            elif hasattr(value, "savefig"):
                self._save_media(key, Image(value))
            elif hasattr(value, "to_plotly_json") and hasattr(value, "to_html"):
                self._save_media(key, Plotly(value))
            elif hasattr(value, "to_csv") and hasattr(value, "columns"):
                self._save_media(key, Table(dataframe=value))
            elif not isinstance(value, (str, type(None))):
                _say("%s is neither a number nor media that are kept: %s" % (key, type(value).__name__))
        now = int(time.time() * 1000)
        for key, number in numbers.items():
            axis = self._axis_of(key)
            step = numbers.get(axis) if axis is not None else None
            at = self.step if step is None or not math.isfinite(step) else int(step)
            self.summary._note(key, number)
            self._send("metrics", key=key, value=number, timestamp=now, step=at)

    def _axis_of(self, key):
        for pattern, axis in reversed(self._axes):
            if axis != key and fnmatch.fnmatchcase(key, pattern):
                return axis
        return None

    def _send(self, kind, **row):
        if self._sender is not None and not self._ended:
            if kind == "metrics":
                value = row["value"]
                if math.isnan(value):
                    row["value"] = "NaN"
                elif math.isinf(value):
                    row["value"] = "Infinity" if value > 0 else "-Infinity"
            self._sender.add(kind, **row)

    @_guarded
    def _param(self, key, value):
        pairs = _flat(value, key + ".") if isinstance(value, dict) and value else [(key, value)]
        for name, one in pairs:
            self._send("params", key=name[:250], value=str(one)[:6000])

    @_guarded
    def _final(self, key, value):
        number = _number(value)
        if number is not None:
            self._send("metrics", key=key, value=number, timestamp=int(time.time() * 1000), step=self.step)
        elif isinstance(value, str):
            self._send("tags", key=key[:250], value=value[:5000])

    def _save_media(self, key, value):
        if self.disabled:
            return
        self._media += 1
        if self._media > _MAX_MEDIA:
            _say("more than %d pictures, tables and other media are not kept" % _MAX_MEDIA)
            return
        safe = "".join(c if c.isalnum() or c in "-_.~" else "_" for c in key)[:100]
        folder = os.path.join(self.dir, "media", value._folder)
        try:
            os.makedirs(folder, exist_ok=True)
            value._save(os.path.join(folder, "%s_%d" % (safe, self.step)))
        except Exception as error:
            _say("%s is not kept: %s" % (key, error))

    @_guarded
    def define_metric(self, name, step_metric=None, **others):
        axis = getattr(step_metric, "name", step_metric)
        if axis is not None:
            self._axes.append((name, axis))
        return types.SimpleNamespace(name=name)

    def watch(self, *models, **others):
        pass

    def unwatch(self, *models):
        pass

    @_guarded
    def alert(self, title, text="", level=None, wait_duration=None):
        print("wandb: alert: %s: %s" % (title, text), file=sys.stderr, flush=True)

    def save(self, glob_str=None, base_path=None, policy=None):
        import glob
        kept = []
        for path in glob.glob(str(glob_str or "")):
            if os.path.isfile(path):
                inside = os.path.relpath(path, base_path) if base_path else os.path.basename(path)
                kept.append(self._copy(path, inside))
        return kept

    def _copy(self, path, inside):
        target = os.path.normpath(os.path.join(self.dir, inside))
        if not target.startswith(self.dir) or os.path.abspath(path) == os.path.abspath(target):
            return path
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copyfile(path, target)
        return target

    def log_artifact(self, artifact, name=None, type=None, aliases=None, **others):
        if not isinstance(artifact, Artifact):
            made = Artifact(name or os.path.basename(str(artifact)), type or "file")
            (made.add_dir if os.path.isdir(artifact) else made.add_file)(str(artifact))
            artifact = made
        for path, inside in artifact._files:
            self._copy(path, os.path.join("artifacts", artifact.name.replace(":", "_"), inside))
        return artifact

    def log_model(self, path, name=None, aliases=None):
        return self.log_artifact(path, name=name, type="model")

    def log_code(self, *args, **others):
        return None

    def finish(self, exit_code=None, quiet=None):
        global run, config, summary
        if self._ended:
            return
        if self._row:
            self._write()
        if self._sender is not None:
            self._sender.close()
            if self._sender.run_id != _OWN_RUN:
                status = "FINISHED" if not exit_code else "FAILED"
                try:
                    _call("runs/update", {"run_id": self._sender.run_id, "status": status,
                                          "end_time": int(time.time() * 1000)})
                except Exception as error:
                    _say("the run is not ended: %s" % error)
        self._ended = True
        if run is self:
            run = None
            config = _Before("config")
            summary = _Before("summary")

    def get_url(self):
        return None

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        self.finish(exit_code=1 if kind is not None else 0)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return _Unknown("run." + name)


class _Unknown:
    """What this module does not know. It may be called, read and indexed, and does nothing."""

    def __init__(self, name):
        self._name = name

    def _note(self):
        _say("%s is not known here and does nothing" % self._name)

    def __call__(self, *args, **others):
        self._note()
        # A decorator returns what it decorates.
        if len(args) == 1 and callable(args[0]) and not others:
            return args[0]
        return self

    def __getattr__(self, name):
        # Private names and savefig tell media from other values.
        if name.startswith("_") or name == "savefig":
            raise AttributeError(name)
        return _Unknown(self._name + "." + name)

    def __getitem__(self, key):
        return _Unknown(self._name)

    def __setitem__(self, key, value):
        self._note()

    def __iter__(self):
        return iter(())

    def __bool__(self):
        return False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return False

    def __mro_entries__(self, bases):
        return (object,)
`;
