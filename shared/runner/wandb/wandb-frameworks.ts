/** The last part of the module that stands in for wandb: callbacks of frameworks, and its modules. */
export const wandbFrameworks = `# -- callbacks of frameworks, and the modules below this one


def _keras_part(name):
    import keras

    class WandbCallback(keras.callbacks.Callback):
        def __init__(self, *args, **others):
            super().__init__()

        def on_epoch_end(self, epoch, logs=None):
            if run is not None:
                run.log(dict(logs or {}))

    class WandbMetricsLogger(keras.callbacks.Callback):
        def __init__(self, log_freq="epoch", initial_global_step=0, *args, **others):
            super().__init__()
            self._every = 1 if log_freq == "batch" else log_freq if isinstance(log_freq, int) else None
            self._batches = 0
            prefix, axis = ("epoch/", "epoch/epoch") if self._every is None else ("batch/", "batch/batch_step")
            define_metric(prefix + "*", step_metric=axis)

        def _log(self, prefix, logs, axis, step):
            row = {prefix + key: value for key, value in (logs or {}).items()}
            try:
                import numpy
                row[prefix + "learning_rate"] = float(numpy.asarray(self.model.optimizer.learning_rate))
            except Exception:
                pass  # A schedule has no value of its own.
            if run is not None:
                run.log({**row, prefix + axis: step})

        def on_epoch_end(self, epoch, logs=None):
            self._log("epoch/", logs, "epoch", epoch)

        def on_train_batch_end(self, batch, logs=None):
            if self._every is not None and batch % self._every == 0:
                self._log("batch/", logs, "batch_step", self._batches)
                self._batches += self._every

    class Other(keras.callbacks.Callback):
        def __init__(self, *args, **others):
            super().__init__()
            _say("keras.%s is not known here and does nothing" % name)

    known = {"WandbCallback": WandbCallback, "WandbMetricsLogger": WandbMetricsLogger,
             "WandbModelCheckpoint": keras.callbacks.ModelCheckpoint}
    return known.get(name, Other)


def _log_importances(names, values):
    table = Table(columns=["Feature", "Importance"], data=[list(row) for row in zip(names, _list(values))])
    log({"Feature Importance": _bar(table, "Feature", "Importance", "Feature Importance")}, commit=False)


def _save_model(model, name):
    model.save_model(os.path.join(run.dir, name))


def _lightgbm_callback(log_params=True, define_metric=True):
    def call(env):
        if run is None:
            return
        if log_params and env.iteration == env.begin_iteration:
            run.config.update(env.params)
        row = {}
        for part, metric, value, *more in env.evaluation_result_list:
            # Cross-validation names the part and the metric as one, and adds the deviation.
            name = "_".join(metric.split() if part == "cv_agg" else [part, metric])
            row.update({name + "-mean": value, name + "-stdv": more[1]} if len(more) > 1 else {name: value})
        run.log({**row, "iteration": env.iteration})

    return call


def _lightgbm_summary(model, feature_importance=True, save_model_checkpoint=False):
    if run is None:
        raise Error("You must call wandb.init() before wandb.lightgbm.log_summary()")
    run.summary["best_iteration"] = model.best_iteration
    for part, values in model.best_score.items():
        for metric, value in values.items():
            run.summary["best_score.%s.%s" % (part, metric)] = value
    if feature_importance:
        _log_importances(model.feature_name(), model.feature_importance())
    if save_model_checkpoint:
        _save_model(model, "model_ckpt_%d.txt" % model.best_iteration)


def _xgboost_part(name):
    if name not in ("WandbCallback", "wandb_callback"):
        return None
    import xgboost

    class WandbCallback(xgboost.callback.TrainingCallback):
        def __init__(self, log_model=False, log_feature_importance=True, importance_type="gain", define_metric=True):
            super().__init__()
            self._log_model, self._kind = log_model, importance_type if log_feature_importance else None

        def before_training(self, model):
            if run is not None:
                run.config.update(json.loads(model.save_config()))
            return model

        def after_iteration(self, model, epoch, evals_log):
            if run is not None:
                row = {"%s-%s" % (part, metric): values[-1]
                       for part, metrics in evals_log.items() for metric, values in metrics.items()}
                run.log({**row, "epoch": epoch})
            return False

        def after_training(self, model):
            if run is None:
                return model
            if self._kind is not None:
                scores = model.get_score(importance_type=self._kind)
                _log_importances(scores.keys(), scores.values())
            if self._log_model:
                _save_model(model, "model.json")
            if model.attr("best_score") is not None:
                run.log({"best_score": float(model.attr("best_score")),
                         "best_iteration": int(model.attr("best_iteration"))})
            return model

    return WandbCallback


class _CatBoostCallback:
    def __init__(self, metric_period=1):
        self._period = metric_period

    def after_iteration(self, info):
        if run is not None and info.iteration % self._period == 0:
            run.log({"%s-%s" % (part, metric): values[-1]
                     for part, metrics in info.metrics.items() for metric, values in metrics.items()})
        return True


# What is known below the modules of these names, such as wandb.xgboost and wandb.integration.xgboost.
_PARTS = {
    "keras": _keras_part,
    "lightgbm": {"wandb_callback": _lightgbm_callback, "log_summary": _lightgbm_summary}.get,
    "xgboost": _xgboost_part,
    "catboost": {"WandbCallback": _CatBoostCallback}.get,
    "plot": _PLOTS.get,
    "plots": _PLOTS.get,
    "sklearn": _SKLEARN.get,
    "integration": {}.get,
}


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    if name == "WandbCallback":
        return _keras_part(name)
    if name in _PARTS:
        return importlib.import_module(__name__ + "." + name)
    return _Unknown(name)


class _Submodule(types.ModuleType):
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        if name in _PARTS:
            return importlib.import_module(self.__name__ + "." + name)
        if name in ("Run", "Settings", "Artifact", "Table", "Image", "Error"):
            return globals()[name]
        for part in self.__name__.split(".")[1:]:
            found = _PARTS[part](name) if part in _PARTS else None
            if found is not None:
                return found
        return _Unknown(self.__name__[len(__name__) + 1 :] + "." + name)


class _Submodules(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Every module below this one can be imported."""

    def find_spec(self, fullname, path=None, target=None):
        if fullname.startswith(__name__ + "."):
            return importlib.machinery.ModuleSpec(fullname, self, is_package=True)
        return None

    def create_module(self, spec):
        return _Submodule(spec.name)

    def exec_module(self, module):
        pass


sys.meta_path.append(_Submodules())
atexit.register(finish)
`;
