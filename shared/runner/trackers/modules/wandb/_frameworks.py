"""Callbacks of Keras, LightGBM, XGBoost and CatBoost."""
import json
import os
import uuid

from . import _state
from ._charts import PLOTS, as_list, bar
from ._errors import Error
from ._media import Table
from ._sklearn import SKLEARN
from ._state import says


def keras_part(name):
    import keras

    class WandbCallback(keras.callbacks.Callback):
        def __init__(self, *args, **others):
            super().__init__()

        def on_epoch_end(self, epoch, logs=None):
            if _state.run is not None:
                _state.run.log(dict(logs or {}))

    class WandbMetricsLogger(keras.callbacks.Callback):
        def __init__(self, log_freq="epoch", initial_global_step=0, *args, **others):
            super().__init__()
            self._every = 1 if log_freq == "batch" else log_freq if isinstance(log_freq, int) else None
            self._batches = 0
            prefix, axis = ("epoch/", "epoch/epoch") if self._every is None else ("batch/", "batch/batch_step")
            _state.define_metric(prefix + "*", step_metric=axis)

        def _log(self, prefix, logs, axis, step):
            row = {prefix + key: value for key, value in (logs or {}).items()}
            try:
                import numpy
                row[prefix + "learning_rate"] = float(numpy.asarray(self.model.optimizer.learning_rate))
            except Exception:
                pass  # A schedule has no value of its own.
            if _state.run is not None:
                _state.run.log({**row, prefix + axis: step})

        def on_epoch_end(self, epoch, logs=None):
            self._log("epoch/", logs, "epoch", epoch)

        def on_train_batch_end(self, batch, logs=None):
            if self._every is not None and batch % self._every == 0:
                self._log("batch/", logs, "batch_step", self._batches)
                self._batches += self._every

    class Other(keras.callbacks.Callback):
        def __init__(self, *args, **others):
            super().__init__()
            says("keras.%s is not known here and does nothing" % name)

    known = {"WandbCallback": WandbCallback, "WandbMetricsLogger": WandbMetricsLogger,
             "WandbModelCheckpoint": keras.callbacks.ModelCheckpoint}
    return known.get(name, Other)


def _log_importances(names, values):
    table = Table(columns=["Feature", "Importance"], data=[list(row) for row in zip(names, as_list(values))])
    _state.log({"Feature Importance": bar(table, "Feature", "Importance", "Feature Importance")}, commit=False)


def _save_model(model, name):
    model.save_model(os.path.join(_state.run.dir, name))


def _lightgbm_callback(log_params=True, define_metric=True):
    def call(env):
        if _state.run is None:
            return
        if log_params and env.iteration == env.begin_iteration:
            _state.run.config.update(env.params)
        row = {}
        for part, metric, value, *more in env.evaluation_result_list:
            # Cross-validation names the part and the metric as one, and adds the deviation.
            name = "_".join(metric.split() if part == "cv_agg" else [part, metric])
            row.update({name + "-mean": value, name + "-stdv": more[1]} if len(more) > 1 else {name: value})
        _state.run.log({**row, "iteration": env.iteration})

    return call


def _lightgbm_summary(model, feature_importance=True, save_model_checkpoint=False):
    if _state.run is None:
        raise Error("You must call wandb.init() before wandb.lightgbm.log_summary()")
    _state.run.summary["best_iteration"] = model.best_iteration
    for part, values in model.best_score.items():
        for metric, value in values.items():
            _state.run.summary["best_score.%s.%s" % (part, metric)] = value
    if feature_importance:
        _log_importances(model.feature_name(), model.feature_importance())
    if save_model_checkpoint:
        _save_model(model, "model_ckpt_%d.txt" % model.best_iteration)


def xgboost_part(name):
    if name not in ("WandbCallback", "wandb_callback"):
        return None
    import xgboost

    class WandbCallback(xgboost.callback.TrainingCallback):
        def __init__(self, log_model=False, log_feature_importance=True, importance_type="gain", define_metric=True):
            super().__init__()
            self._log_model, self._kind = log_model, importance_type if log_feature_importance else None

        def before_training(self, model):
            if _state.run is not None:
                _state.run.config.update(json.loads(model.save_config()))
            return model

        def after_iteration(self, model, epoch, evals_log):
            if _state.run is not None:
                row = {"%s-%s" % (part, metric): values[-1]
                       for part, metrics in evals_log.items() for metric, values in metrics.items()}
                _state.run.log({**row, "epoch": epoch})
            return False

        def after_training(self, model):
            if _state.run is None:
                return model
            if self._kind is not None:
                scores = model.get_score(importance_type=self._kind)
                _log_importances(scores.keys(), scores.values())
            if self._log_model:
                _save_model(model, "model.json")
            if model.attr("best_score") is not None:
                _state.run.log({"best_score": float(model.attr("best_score")),
                         "best_iteration": int(model.attr("best_iteration"))})
            return model

    return WandbCallback


class _CatBoostCallback:
    def __init__(self, metric_period=1):
        self._period = metric_period

    def after_iteration(self, info):
        if _state.run is not None and info.iteration % self._period == 0:
            _state.run.log({"%s-%s" % (part, metric): values[-1]
                     for part, metrics in info.metrics.items() for metric, values in metrics.items()})
        return True


def _generate_id(length=8):
    return uuid.uuid4().hex[:length]


# What is known below the modules of these names, such as wandb.xgboost and wandb.integration.xgboost.
PARTS = {
    "keras": keras_part,
    "lightgbm": {"wandb_callback": _lightgbm_callback, "log_summary": _lightgbm_summary}.get,
    "xgboost": xgboost_part,
    "catboost": {"WandbCallback": _CatBoostCallback}.get,
    "plot": PLOTS.get,
    "plots": PLOTS.get,
    "sklearn": SKLEARN.get,
    "util": {"generate_id": _generate_id}.get,
    "runid": {"generate_id": _generate_id}.get,
}
