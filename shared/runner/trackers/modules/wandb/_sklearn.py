"""What wandb.sklearn computes of a model of scikit-learn: numbers are metrics, the rest are charts."""
import time

from mps_recorder.media import MAX_ROWS

from . import _state
from ._charts import CustomChart, as_list, confusion_matrix, pr_curve, roc_curve, safe
from ._errors import Error
from ._media import Table


def _summary_metrics(model=None, X=None, y=None, X_test=None, y_test=None):
    from sklearn import base, metrics
    predicted = model.predict(X_test)
    if base.is_classifier(model):
        precision, recall, f1, _ = metrics.precision_recall_fscore_support(
            y_test, predicted, average="weighted", zero_division=0)
        accuracy = metrics.accuracy_score(y_test, predicted)
        values = {"accuracy_score": accuracy, "precision": precision, "recall": recall, "f1_score": f1}
    else:
        values = {"mae": metrics.mean_absolute_error(y_test, predicted),
                  "mse": metrics.mean_squared_error(y_test, predicted),
                  "r2_score": metrics.r2_score(y_test, predicted)}
    columns = ["metric_name", "metric_value", "model_name"]
    table = Table(columns=columns, data=[[name, float(one), type(model).__name__] for name, one in values.items()])
    return {**values, "summary_metrics": CustomChart(table, "bar", *columns[:2])}


def _learning_curve(model=None, X=None, y=None, cv=None, shuffle=False, random_state=None, train_sizes=None,
                    n_jobs=1, scoring=None):
    from sklearn import model_selection
    sizes = train_sizes if train_sizes is not None else [0.1, 0.325, 0.55, 0.775, 1.0]
    sizes, train, test = model_selection.learning_curve(
        model, X, y, cv=cv, shuffle=shuffle, random_state=random_state, train_sizes=sizes, n_jobs=n_jobs,
        scoring=scoring)
    rows = [[part, float(score), int(size)] for part, scores in (("train", train), ("test", test))
            for score, size in zip(scores.mean(axis=1), sizes)]
    table = Table(columns=["dataset", "score", "train_size"], data=rows)
    return {"learning_curve": CustomChart(table, "line", "train_size", "score", "dataset", "Learning curve")}


def _feature_importances(model=None, feature_names=None, title="Feature importances", max_num_features=50):
    import numpy
    values = getattr(model, "feature_importances_", None)
    values = getattr(model, "coef_", None) if values is None else values
    if values is None:
        raise Error("%s has neither feature_importances_ nor coef_" % type(model).__name__)
    # Coefficients of several classes count by their size.
    values = numpy.atleast_2d(values)
    values = values[0] if len(values) == 1 else numpy.abs(values).mean(axis=0)
    names = as_list(feature_names) if feature_names is not None else range(len(values))
    rows = sorted(zip(names, values.tolist()), key=lambda row: -row[1])[:max_num_features]
    table = Table(columns=["feature_names", "importances"], data=rows)
    return {"feature_importances": CustomChart(table, "bar", "feature_names", "importances", None, title)}


def _sklearn_confusion_matrix(y_true=None, y_pred=None, labels=None, true_labels=None, pred_labels=None, normalize=False):
    chart = confusion_matrix(y_true=y_true, preds=y_pred, class_names=as_list(labels) if labels is not None else None)
    rows = chart.table.data
    if normalize:
        totals = {}
        for actual, _, count in rows:
            totals[actual] = totals.get(actual, 0) + count
        rows = [[actual, predicted, round(count / (totals[actual] or 1), 2)] for actual, predicted, count in rows]
    chart.table.data = [row for row in rows if (true_labels is None or row[0] in true_labels)
                        and (pred_labels is None or row[1] in pred_labels)]
    return {"confusion_matrix": chart}


def _class_proportions(y_train=None, y_test=None, labels=None):
    rows = []
    for part, values in (("train", y_train), ("test", y_test)):
        values = as_list(values) if values is not None else []
        for one in sorted(set(values)):
            name = labels[one] if labels is not None and isinstance(one, int) else one
            rows.append([name, part, values.count(one)])
    table = Table(columns=["class", "dataset", "count"], data=rows)
    return {"class_proportions": CustomChart(table, "grid", "class", "count", "dataset", "Rows of each class")}


def _calibration_curve(clf=None, X=None, y=None, clf_name="Classifier"):
    from sklearn import calibration
    share, mean = calibration.calibration_curve(as_list(y), clf.predict_proba(X)[:, 1], n_bins=10)
    rows = [["Perfectly calibrated", 0.0, 0.0], ["Perfectly calibrated", 1.0, 1.0]]
    rows += [[clf_name, float(one), float(other)] for one, other in zip(share, mean)]
    table = Table(columns=["model", "fraction_of_positives", "mean_predicted_value"], data=rows)
    return {"calibration_curve": CustomChart(
        table, "line", "mean_predicted_value", "fraction_of_positives", "model", "Calibration")}


def _sklearn_roc(y_true=None, y_probas=None, labels=None, plot_micro=True, plot_macro=True, classes_to_plot=None,
                 model_classes=None):
    return {"roc": roc_curve(y_true, y_probas, labels, classes_to_plot, model_classes=model_classes)}


def _sklearn_precision_recall(y_true=None, y_probas=None, labels=None, plot_micro=True, classes_to_plot=None,
                              model_classes=None):
    return {"precision_recall": pr_curve(y_true, y_probas, labels, classes_to_plot, model_classes=model_classes)}


def _residuals(regressor=None, X=None, y=None):
    import numpy
    from sklearn import base, model_selection
    parts = model_selection.train_test_split(X, y, test_size=0.2)
    # Another model: that of the program stays as it is.
    model = base.clone(regressor).fit(parts[0], parts[2])
    scores, rows = {}, []
    for part, inputs, values in (("train", parts[0], parts[2]), ("test", parts[1], parts[3])):
        scores[part + "_score"] = float(model.score(inputs, values))
        predicted = numpy.asarray(model.predict(inputs))
        rows += [[part, *row] for row in zip(predicted.tolist(), (predicted - numpy.asarray(values)).tolist())]
    table = Table(columns=["dataset", "y_pred", "residuals"], data=rows[:MAX_ROWS])
    return {**scores, "residuals": CustomChart(table, "scatter", "y_pred", "residuals", "dataset", "Residuals")}


def _outlier_candidates(regressor=None, X=None, y=None):
    """Cook's distance of each row in a linear model of as many parameters as columns."""
    import numpy
    inputs, values = numpy.asarray(X, dtype=float), numpy.asarray(y, dtype=float)
    count, width = inputs.shape
    leverage = (inputs * numpy.linalg.pinv(inputs).T).sum(axis=1)
    errors = values - numpy.asarray(regressor.predict(X))
    variance = errors @ errors / (count - numpy.linalg.matrix_rank(inputs))
    distances = errors**2 / variance * leverage / (1 - leverage) ** 2 / width
    share = float((distances >= 4 / count).mean() * 100)
    rows = [[at, float(one)] for at, one in enumerate(distances[:MAX_ROWS])]
    table = Table(columns=["instance_indices", "distance"], data=rows)
    return {"outlier_percentage": share, "outlier_candidates": CustomChart(
        table, "scatter", "instance_indices", "distance", None, "Cook's distance")}


def _elbow_curve(clusterer=None, X=None, cluster_ranges=None, n_jobs=1, show_cluster_time=True):
    from sklearn import base
    rows = []
    for count in sorted(cluster_ranges if cluster_ranges is not None else range(1, 10, 2)):
        begun = time.time()
        score = base.clone(clusterer).set_params(n_clusters=count).fit(X).score(X)
        rows.append([count, abs(float(score)), time.time() - begun])
    table = Table(columns=["cluster_ranges", "errors", "clustering_time"], data=rows)
    return {"elbow_curve": CustomChart(table, "line", "cluster_ranges", "errors", None, "Error by number of clusters")}


def _silhouette(clusterer=None, X=None, cluster_labels=None, labels=None, metric="euclidean", kmeans=True):
    from sklearn import metrics
    values = metrics.silhouette_samples(X, cluster_labels, metric=metric)
    rows = sorted([one, float(value)] for one, value in zip(as_list(cluster_labels), values))
    table = Table(columns=["row", "cluster", "silhouette"], data=[[at, *row] for at, row in enumerate(rows)])
    return {"silhouette_avg": float(values.mean()), "silhouette_plot": CustomChart(
        table, "line", "row", "silhouette", "cluster", "Silhouette")}


def _logged(name, make):
    """A function of wandb.sklearn, which logs what it computes."""
    call_safely = safe("sklearn." + name, make)

    def call(*args, **others):
        made = call_safely(*args, **others)
        if made is not None:
            _state.log(made)

    call.__name__ = name
    return call


SKLEARN = {
    "plot_summary_metrics": _summary_metrics, "plot_learning_curve": _learning_curve,
    "plot_feature_importances": _feature_importances, "plot_confusion_matrix": _sklearn_confusion_matrix,
    "plot_class_proportions": _class_proportions, "plot_calibration_curve": _calibration_curve,
    "plot_roc": _sklearn_roc, "plot_precision_recall": _sklearn_precision_recall, "plot_residuals": _residuals,
    "plot_outlier_candidates": _outlier_candidates, "plot_elbow_curve": _elbow_curve, "plot_silhouette": _silhouette,
}
SKLEARN = {_name: _logged(_name, _make) for _name, _make in SKLEARN.items()}


def _plot_classifier(model, X_train, X_test, y_train, y_test, y_pred, y_probas, labels, is_binary=False,
                     model_name="Classifier", feature_names=None, log_learning_curve=False):
    if hasattr(model, "feature_importances_") or hasattr(model, "coef_"):
        SKLEARN["plot_feature_importances"](model, feature_names)
    if log_learning_curve:
        SKLEARN["plot_learning_curve"](model, X_train, y_train)
    SKLEARN["plot_confusion_matrix"](y_test, y_pred, labels)
    SKLEARN["plot_summary_metrics"](model, X_train, y_train, X_test, y_test)
    SKLEARN["plot_class_proportions"](y_train, y_test, labels)
    if set(as_list(y_train)) == {0, 1}:
        SKLEARN["plot_calibration_curve"](model, X_train, y_train, model_name)
    # The model knows classes that the test set lacks.
    classes = getattr(model, "classes_", None)
    classes = as_list(classes) if classes is not None else None
    SKLEARN["plot_roc"](y_test, y_probas, labels, model_classes=classes)
    SKLEARN["plot_precision_recall"](y_test, y_probas, labels, model_classes=classes)


def _plot_regressor(model, X_train, X_test, y_train, y_test, model_name="Regressor"):
    SKLEARN["plot_summary_metrics"](model, X_train, y_train, X_test, y_test)
    SKLEARN["plot_learning_curve"](model, X_train, y_train)
    SKLEARN["plot_outlier_candidates"](model, X_train, y_train)
    SKLEARN["plot_residuals"](model, X_train, y_train)


def _plot_clusterer(model, X_train, cluster_labels, labels=None, model_name="Clusterer"):
    if hasattr(model, "n_clusters") and hasattr(model, "score"):
        SKLEARN["plot_elbow_curve"](model, X_train)
    SKLEARN["plot_silhouette"](model, X_train, cluster_labels, labels)


SKLEARN.update(plot_classifier=_plot_classifier, plot_regressor=_plot_regressor, plot_clusterer=_plot_clusterer)
