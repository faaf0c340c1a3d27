"""Records what a program logs by Comet in the experiment of its job. Stands in for the package of this name."""
import contextlib
import os

from mps_recorder import (Audio, File, Histogram, Html, Image, Recorder, Says, Submodules, Table, Text, does_nothing, flat,
                          guarded, number, plain, unknown)

__version__ = "3.49.11"

says = Says("comet_ml")

_current = None


def _other(of, name):
    if name.startswith("_"):
        raise AttributeError(name)
    return unknown("%s.%s" % (of, name), says)


class CometExperiment:
    """Metrics within train(), validate() and test() begin with the name of the part, as in Comet."""

    def __init__(self, api_key=None, project_name=None, workspace=None, disabled=False, experiment_key=None, *args, **others):
        global _current
        if api_key:
            says("api_key is not used here: runs are recorded in this experiment")
        self._recorder = Recorder(says, disabled=bool(disabled))
        self.id = experiment_key or self._recorder.run_id or "0"
        self.project_name, self.workspace = project_name, workspace
        self.disabled = self._recorder.is_disabled
        self.curr_step = self.curr_epoch = None
        self.context = None
        self.url = ""
        self._parameters, self._metrics, self._counts, self._others, self._tags = {}, {}, {}, {}, []
        if project_name:
            self._recorder.tag("comet.project", project_name)
        _current = self

    def _name(self, name):
        return "%s_%s" % (self.context, name) if self.context else str(name)

    def _at(self, step=None, epoch=None):
        for one in (step, epoch, self.curr_step, self.curr_epoch):
            if one is not None:
                return int(one)
        return 0

    # -- what a program records

    @guarded(says)
    def log_metric(self, name, value, step=None, epoch=None, include_context=True):
        if step is not None:
            self.curr_step = step
        if epoch is not None:
            self.curr_epoch = epoch
        key = self._name(name) if include_context else str(name)
        found = number(value)
        if found is None:
            self._recorder.value(key, value, self._at())
            return
        self._metrics[key] = found
        # Without any step, values of a metric are counted.
        has_step = any(one is not None for one in (step, self.curr_step, epoch, self.curr_epoch))
        at = self._at(step, epoch) if has_step else self._counts.get(key, 0)
        self._counts[key] = at + 1
        self._recorder.metric(key, found, at)

    @guarded(says)
    def log_metrics(self, dic, prefix=None, step=None, epoch=None):
        for key, value in flat(dic):
            self.log_metric(str(key) if prefix is None else "%s_%s" % (prefix, key), value, step, epoch)

    @guarded(says)
    def log_parameter(self, name, value, step=None):
        self._parameters[str(name)] = value
        self._recorder.param(name, value)

    @guarded(says)
    def log_parameters(self, parameters, prefix=None, nested_support=True, step=None):
        for key, value in flat(plain(parameters, says), "" if prefix is None else prefix + "_"):
            self.log_parameter(key, value)

    @guarded(says)
    def log_other(self, key, value, *args, **others):
        self._others[key] = value
        self._recorder.tag(key, value)

    def log_others(self, dictionary):
        for key, value in dictionary.items():
            self.log_other(key, value)

    @guarded(says)
    def log_text(self, text, step=None, metadata=None):
        self._recorder.media("text", Text(text), self._at(step))

    @guarded(says)
    def log_html(self, html, clear=False, timestamp=None):
        self._recorder.media("page", Html(html), self._at())

    @guarded(says)
    def log_image(self, image_data, name=None, overwrite=False, image_format="png", *args, step=None, **others):
        self._recorder.media(name or "image", Image(image_data), self._at(step))

    @guarded(says)
    def log_figure(self, figure_name=None, figure=None, overwrite=False, step=None):
        if figure is None:
            import matplotlib.pyplot
            figure = matplotlib.pyplot.gcf()
        self._recorder.media(figure_name or "figure", figure, self._at(step))

    @guarded(says)
    def log_audio(self, audio_data, sample_rate=None, file_name=None, metadata=None, overwrite=False, copy_to_tmp=True, step=None):
        self._recorder.media(file_name or "audio", Audio(audio_data, sample_rate), self._at(step))

    @guarded(says)
    def log_video(self, file, name=None, *args, step=None, **others):
        self._recorder.media(name or "video", File(file), self._at(step))

    @guarded(says)
    def log_table(self, filename, tabular_data=None, headers=False, **others):
        if tabular_data is None:
            self._recorder.files(filename, "tables/" + os.path.basename(str(filename)))
        elif hasattr(tabular_data, "to_csv"):
            self._recorder.media(filename, Table(dataframe=tabular_data))
        else:
            rows = [list(row) for row in tabular_data]
            names = headers if isinstance(headers, (list, tuple)) else range(len(rows[0]) if rows else 0)
            self._recorder.media(filename, Table(columns=list(names), data=rows))

    @guarded(says)
    def log_histogram_3d(self, values, name=None, step=None, *args, **others):
        self._recorder.media(name or "histogram", Histogram(values), self._at(step))

    @guarded(says)
    def log_curve(self, name, x, y, overwrite=False, step=None):
        self._recorder.media(name, Table(columns=["x", "y"], data=[list(row) for row in zip(x, y)]), self._at(step))

    @guarded(says)
    def log_confusion_matrix(self, y_true=None, y_predicted=None, matrix=None, labels=None, title="Confusion Matrix",
                             *args, file_name="confusion-matrix.json", step=None, **others):
        if matrix is None:
            pairs = list(zip(_classes(y_true), _classes(y_predicted)))
            size = max([max(pair) for pair in pairs], default=-1) + 1
            matrix = [[pairs.count((row, column)) for column in range(size)] for row in range(size)]
        matrix = matrix.tolist() if hasattr(matrix, "tolist") else matrix
        names = labels or [str(at) for at in range(len(matrix))]
        rows = [[name, *row] for name, row in zip(names, matrix)]
        self._recorder.media(title, Table(columns=["actual", *names], data=rows), self._at(step))

    @guarded(says)
    def log_asset(self, file_data, file_name=None, overwrite=False, *args, **others):
        if hasattr(file_data, "read"):
            self.log_asset_data(file_data.read(), file_name)
        else:
            self._recorder.files(file_data, "assets/" + (file_name or os.path.basename(str(file_data))))

    @guarded(says)
    def log_asset_data(self, data, name=None, *args, **others):
        import json
        path = os.path.join(os.environ.get("TMPDIR", "/tmp"), "asset-%d" % id(data))
        with open(path, "wb") as file:
            file.write(data if isinstance(data, bytes) else (data if isinstance(data, str) else json.dumps(data, default=str)).encode())
        self._recorder.file(path, "assets/" + (name or "data"), move=True)

    @guarded(says)
    def log_asset_folder(self, folder, step=None, log_file_name=None, recursive=False):
        self._recorder.files(folder, "assets/" + os.path.basename(os.path.normpath(str(folder))))

    @guarded(says)
    def log_model(self, name, file_or_folder, file_name=None, *args, **others):
        inside = "models/" + str(name)
        is_folder = os.path.isdir(str(file_or_folder))
        self._recorder.files(file_or_folder, inside if is_folder else inside + "/" + (file_name or os.path.basename(str(file_or_folder))))

    def log_epoch_end(self, epoch_cnt, step=None):
        self.curr_epoch = epoch_cnt
        if step is not None:
            self.curr_step = step

    def log_current_epoch(self, value):
        self.curr_epoch = value

    set_epoch = log_current_epoch

    def set_step(self, step):
        self.curr_step = step

    def set_name(self, name):
        self._recorder.rename(name)

    def get_name(self):
        return self._recorder.name

    name = property(get_name, set_name)

    def add_tag(self, tag):
        self._tags.append(tag)
        self._recorder.tag(tag, "true")

    def add_tags(self, tags):
        for one in tags:
            self.add_tag(one)

    def get_tags(self):
        return list(self._tags)

    def get_key(self):
        return self.id

    def get_metric(self, name):
        return self._metrics.get(name)

    def get_parameter(self, name):
        return self._parameters[name]

    def get_other(self, name):
        return self._others.get(name)

    @contextlib.contextmanager
    def context_manager(self, context):
        former, self.context = self.context, context
        try:
            yield self
        finally:
            self.context = former

    def train(self):
        return self.context_manager("train")

    def validate(self):
        return self.context_manager("validate")

    def test(self):
        return self.context_manager("test")

    def flush(self):
        self._recorder.flush()
        return True

    def end(self):
        global _current
        self._recorder.finish()
        if _current is self:
            _current = None

    for _call, _why in {"log_code": "does nothing here: the experiment has its source", "log_system_info": None,
                        "log_dataset_hash": None, "log_dataset_info": None, "set_model_graph": None, "log_graph": None,
                        "log_git_metadata": None, "log_git_patch": None, "stop_early": None, "display": None,
                        "send_notification": None, "register_model": None, "clean": None}.items():
        locals()[_call] = staticmethod(does_nothing("Experiment." + _call, says, why=_why or "does nothing here"))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def __getattr__(self, name):
        return _other("Experiment", name)


def _classes(values):
    """Class numbers of labels, or of rows of scores."""
    values = values.tolist() if hasattr(values, "tolist") else list(values)
    return [max(range(len(one)), key=one.__getitem__) if isinstance(one, (list, tuple)) else int(one) for one in values]


class Experiment(CometExperiment):
    pass


class OfflineExperiment(CometExperiment):
    def __init__(self, project_name=None, *args, **others):
        super().__init__(None, project_name, *args, **others)


class ExistingExperiment(CometExperiment):
    def __init__(self, api_key=None, previous_experiment=None, *args, **others):
        super().__init__(api_key)


class ExistingOfflineExperiment(CometExperiment):
    def __init__(self, previous_experiment=None, *args, **others):
        super().__init__()


class ExperimentConfig:
    def __init__(self, disabled=None, name=None, tags=None, **others):
        self.disabled, self.name, self.tags = disabled, name, tags


def start(api_key=None, workspace=None, project_name=None, experiment_key=None, mode=None, online=None,
          experiment_config=None, **others):
    if _current is not None and mode in (None, "get", "get_or_create"):
        return _current
    made = Experiment(api_key, project_name, workspace, getattr(experiment_config, "disabled", None), experiment_key)
    if getattr(experiment_config, "name", None):
        made.set_name(experiment_config.name)
    made.add_tags(getattr(experiment_config, "tags", None) or ())
    return made


def end():
    if _current is not None:
        _current.end()


def get_global_experiment():
    return _current


get_running_experiment = get_global_experiment


def login(*args, **others):
    return None


init = login


def __getattr__(name):
    return _other("comet_ml", name)


_submodules = Submodules(__name__, says)
