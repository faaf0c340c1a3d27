"""Records what a program logs by ClearML in the experiment of its job. Stands in for the package of this name."""
import atexit
import os
import pickle

from mps_recorder import (Histogram, Image, Recorder, Says, Submodules, Table, Text, does_nothing, flat, guarded, number,
                          plain, unknown)

__version__ = "2.0.2"

says = Says("clearml")

_current = None


class _Named(type):
    """A class whose unknown names are said as those of its instances are."""

    def __getattr__(cls, name):
        return _other(cls.__name__, name)


class Logger(metaclass=_Named):
    """Scalars are metrics `title/series`. Tables, texts and pictures become files."""

    def __init__(self, task):
        self._task = task

    @classmethod
    def current_logger(cls):
        return _current.get_logger() if _current is not None else None

    def _key(self, title, series):
        return "%s/%s" % (title, series) if series else str(title)

    def _media(self, title, series, value, iteration):
        self._task._recorder.media(self._key(title, series).replace("/", "_"), value, int(iteration or 0))

    @guarded(says)
    def report_scalar(self, title, series, value, iteration):
        found = number(value)
        if found is None:
            says("the scalar %s is no number" % self._key(title, series))
            return
        at = int(iteration) + self._task._offset
        self._task._last = max(self._task._last, at)
        self._task._recorder.metric(self._key(title, series), found, at)

    @guarded(says)
    def report_single_value(self, name, value):
        self._task._recorder.value(name, value)

    @guarded(says)
    def report_text(self, msg, level=None, print_console=True, *args, **others):
        if print_console:
            print(msg, flush=True)

    @guarded(says)
    def report_table(self, title, series, iteration=0, table_plot=None, csv=None, url=None, extra_layout=None,
                     extra_data=None):
        if csv is not None:
            self._task._recorder.files(csv, "tables/" + os.path.basename(str(csv)))
        elif table_plot is not None:
            self._media(title, series, _table(table_plot), iteration)

    @guarded(says)
    def report_image(self, title, series, iteration=0, local_path=None, image=None, *args, **others):
        self._media(title, series, Image(local_path if local_path is not None else image), iteration)

    @guarded(says)
    def report_matplotlib_figure(self, title, series, figure, iteration=0, report_image=False, report_interactive=True):
        self._media(title, series, Image(figure if hasattr(figure, "savefig") else figure.gcf()), iteration)

    @guarded(says)
    def report_plotly(self, title, series, figure, iteration=0):
        self._media(title, series, figure, iteration)

    @guarded(says)
    def report_media(self, title, series, iteration=0, local_path=None, stream=None, *args, **others):
        if local_path is None:
            says("media of a stream are not kept: give a file")
        else:
            self._task._recorder.files(local_path, "media/files/" + os.path.basename(str(local_path)))

    @guarded(says)
    def report_histogram(self, title, series, values, iteration=0, labels=None, xlabels=None, *args, **others):
        names = xlabels if xlabels is not None else range(len(values))
        self._media(title, series, Table(columns=["x", "value"], data=list(zip(names, _rows(values)))), iteration)

    report_vector = report_histogram

    @guarded(says)
    def report_confusion_matrix(self, title, series, matrix, iteration=0, xaxis=None, yaxis=None, xlabels=None, *args, **others):
        rows = _rows(matrix)
        columns = xlabels if xlabels is not None else range(len(rows[0]) if rows else 0)
        self._media(title, series, Table(columns=list(columns), data=rows), iteration)

    report_surface = report_confusion_matrix

    @guarded(says)
    def report_scatter2d(self, title, series, scatter, iteration=0, *args, **others):
        rows = _rows(scatter)
        names = ["x", "y", "z"][: len(rows[0]) if rows else 2]
        self._media(title, series, Table(columns=names, data=rows), iteration)

    report_scatter3d = report_scatter2d

    @guarded(says)
    def report_line_plot(self, title, series, xaxis=None, yaxis=None, iteration=0, *args, **others):
        for one in series:
            self._media(title, one["name"], Table(columns=[str(xaxis), str(yaxis)], data=_rows(one["data"])), iteration)

    def flush(self, wait=False):
        self._task._recorder.flush()

    set_default_upload_destination = staticmethod(does_nothing("set_default_upload_destination", says))

    def __getattr__(self, name):
        return _other("Logger", name)


def _rows(values):
    values = values.tolist() if hasattr(values, "tolist") else values
    return [list(one) if isinstance(one, (list, tuple)) else one for one in values]


def _table(value):
    if hasattr(value, "to_csv"):
        return value
    rows = _rows(value)
    return Table(columns=rows[0], data=rows[1:])


def _other(of, name):
    if name.startswith("_"):
        raise AttributeError(name)
    return unknown("%s.%s" % (of, name), says)


class _TaskTypes:
    def __getattr__(self, name):
        return name


class Task(metaclass=_Named):
    TaskTypes = _TaskTypes()

    def __init__(self, project_name=None, task_name=None, task_type=None, tags=None, **others):
        self._recorder = Recorder(says, name=task_name, tags=tags)
        self.project, self.task_type = project_name, task_type
        self.id = self.task_id = self._recorder.run_id or "0"
        self._offset = self._last = 0
        self._parameters = {}
        self.artifacts = {}
        if project_name:
            self._recorder.tag("clearml.project", project_name)

    @classmethod
    def init(cls, project_name=None, task_name=None, task_type=None, tags=None, *args, **others):
        global _current
        if _current is None:
            _current = cls(project_name, task_name, task_type, tags)
        return _current

    @classmethod
    def create(cls, project_name=None, task_name=None, task_type=None, *args, **others):
        return cls(project_name, task_name, task_type)

    @classmethod
    def current_task(cls):
        return _current

    @classmethod
    def running_locally(cls):
        return True

    @classmethod
    def is_offline(cls):
        return False

    for _call in ("set_credentials", "set_offline", "add_requirements", "force_requirements_env_freeze", "set_random_seed",
                  "ignore_requirements", "force_store_standalone_script", "set_resource_monitor_iteration_timeout"):
        locals()[_call] = staticmethod(does_nothing("Task." + _call, says))

    @property
    def name(self):
        return self._recorder.name

    @name.setter
    def name(self, value):
        self._recorder.rename(value)

    def set_name(self, name):
        self._recorder.rename(name)

    rename = set_name

    def get_logger(self):
        return Logger(self)

    logger = property(get_logger)

    def connect(self, mutable, name=None, ignore_remote_overrides=False):
        self._param(plain(mutable, says), "" if name in (None, "General") else name + "/")
        return mutable

    def connect_configuration(self, configuration, name=None, description=None, ignore_remote_overrides=False):
        if isinstance(configuration, (str, os.PathLike)):
            self._recorder.files(configuration)
        else:
            self._param(plain(configuration, says), (name or "General") + "/")
        return configuration

    @guarded(says)
    def _param(self, values, prefix=""):
        for key, value in flat(values, prefix, "/"):
            self._parameters[key] = value
            self._recorder.param(key, value)

    def set_parameters(self, *args, **others):
        for values in (*args, others):
            self._param(values)

    update_parameters = set_parameters_as_dict = set_parameters

    def set_parameter(self, name, value, *args, **others):
        self._param({name: value})

    def get_parameters(self, *args, **others):
        return dict(self._parameters)

    get_parameters_as_dict = get_parameters

    def get_parameter(self, name, default=None, *args, **others):
        return self._parameters.get(name, default)

    def add_tags(self, tags):
        for one in [tags] if isinstance(tags, str) else tags:
            self._recorder.tag(one, "true")

    set_tags = add_tags

    def set_comment(self, comment):
        self._recorder.note(comment)

    def set_user_properties(self, *args, **others):
        for key, value in others.items():
            self._recorder.tag(key, value)

    def set_initial_iteration(self, offset=0):
        self._offset = int(offset)
        return self._offset

    def get_initial_iteration(self):
        return self._offset

    def get_last_iteration(self):
        return self._last

    @guarded(says, otherwise=False)
    def upload_artifact(self, name, artifact_object, *args, **others):
        inside = os.path.join("artifacts", str(name))
        self.artifacts[name] = artifact_object
        if isinstance(artifact_object, (str, os.PathLike)) and os.path.exists(artifact_object):
            is_file = os.path.isfile(artifact_object)
            self._recorder.files(artifact_object, inside + (os.path.splitext(str(artifact_object))[1] if is_file else ""))
        elif isinstance(artifact_object, (dict, list, str)):
            self._recorder.media("artifact_" + str(name), Text(_json(artifact_object)))
        elif hasattr(artifact_object, "to_csv"):
            self._recorder.media("artifact_" + str(name), Table(dataframe=artifact_object))
        elif hasattr(artifact_object, "tolist"):
            self._recorder.media("artifact_" + str(name), Text(_json(artifact_object.tolist())))
        elif hasattr(artifact_object, "save") and hasattr(artifact_object, "mode"):
            self._recorder.media("artifact_" + str(name), Image(artifact_object))
        else:
            path = os.path.join(os.environ.get("TMPDIR", "/tmp"), str(name).replace("/", "_") + ".pkl")
            with open(path, "wb") as file:
                pickle.dump(artifact_object, file)
            self._recorder.file(path, inside + ".pkl", move=True)
        return True

    register_artifact = upload_artifact

    def flush(self, wait_for_uploads=False):
        self._recorder.flush()
        return True

    def close(self):
        global _current
        self._recorder.finish()
        if _current is self:
            _current = None

    mark_completed = mark_stopped = completed = close

    def mark_failed(self, *args, **others):
        self._recorder.finish(exit_code=1)

    execute_remotely = staticmethod(does_nothing("Task.execute_remotely", says, why="goes on here: this is the job"))
    set_model_label_enumeration = staticmethod(does_nothing("Task.set_model_label_enumeration", says))
    set_base_docker = staticmethod(does_nothing("Task.set_base_docker", says))

    def get_output_log_web_page(self):
        return ""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __getattr__(self, name):
        return _other("Task", name)


def _json(value):
    import json
    return value if isinstance(value, str) else json.dumps(value, default=str)


class OutputModel(metaclass=_Named):
    def __init__(self, task=None, name=None, framework=None, *args, **others):
        self._task, self.name = task or _current, name or "model"

    @guarded(says)
    def update_weights(self, weights_filename=None, *args, **others):
        if self._task is not None and weights_filename is not None:
            self._task._recorder.files(weights_filename, "models/" + os.path.basename(str(weights_filename)))
        return weights_filename

    def __getattr__(self, name):
        return _other("OutputModel", name)


def __getattr__(name):
    return _other("clearml", name)


_submodules = Submodules(__name__, says)
atexit.register(lambda: _current is not None and _current.close())

__all__ = ["Histogram", "Logger", "OutputModel", "Task"]
