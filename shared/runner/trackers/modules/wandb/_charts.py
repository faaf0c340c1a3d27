"""Charts of wandb.plot, which become tables, and pictures where Matplotlib is installed."""
import importlib.util

from mps_recorder import Media
from mps_recorder.media import MAX_ROWS

from ._errors import Error
from ._media import Table
from ._state import says


class CustomChart(Media):
    """A table, and how wandb would draw it."""

    folder = "charts"

    def __init__(self, table, kind, x=None, y=None, by=None, title=""):
        if not isinstance(table, Table):
            raise Error("a chart is drawn of a wandb.Table, not of %s" % type(table).__name__)
        for column in (x, y, by):
            if column is not None and column not in table.columns:
                raise Error("the table has no column %s" % column)
        super().__init__()
        self.table, self._kind, self._title = table, kind, title
        self._x, self._y, self._by = x, y, by

    def _write(self, path, says):
        self.table._write(path, says)
        if self._kind is None or importlib.util.find_spec("matplotlib") is None:
            return
        try:
            # Not pyplot, which would change figures and settings of the program.
            from matplotlib.figure import Figure
            figure = Figure()
            axes = figure.subplots()
            getattr(self, "_draw_" + self._kind)(axes)
            axes.set_title(self._title)
            figure.savefig(path + ".png", bbox_inches="tight")
        except Exception as error:
            says("a chart is kept as a table only: %s" % error)

    def _column(self, name):
        return self.table.get_column(name)[:MAX_ROWS]

    def _groups(self):
        """The rows of each line or colour: name, x and y."""
        groups = {}
        names = self._column(self._by) if self._by is not None else [None] * len(self.table.data)
        for name, x, y in zip(names, self._column(self._x), self._column(self._y)):
            xs, ys = groups.setdefault(name, ([], []))
            xs.append(x)
            ys.append(y)
        return list(groups.items())[:20]

    def _draw_line(self, axes, style="-"):
        for name, (xs, ys) in self._groups():
            axes.plot(xs, ys, style, label=str(name))
        self._describe(axes)

    def _draw_scatter(self, axes):
        self._draw_line(axes, ".")

    def _describe(self, axes):
        axes.set_xlabel(self._x)
        axes.set_ylabel(self._y)
        if self._by is not None:
            axes.legend(title=self._by)

    def _draw_bar(self, axes):
        names, values = self._column(self._x)[:50], self._column(self._y)[:50]
        axes.barh([str(name) for name in names], values)
        axes.invert_yaxis()
        axes.set_xlabel(self._y)

    def _draw_histogram(self, axes):
        axes.hist(self._column(self._x), bins=30)
        axes.set_xlabel(self._x)

    def _draw_grid(self, axes):
        """One cell for each pair of x and by, with its value in y."""
        columns = list(dict.fromkeys(self._column(self._x)))
        rows = list(dict.fromkeys(self._column(self._by)))
        cells = [[0.0] * len(columns) for _ in rows]
        for x, by, value in zip(self._column(self._x), self._column(self._by), self._column(self._y)):
            cells[rows.index(by)][columns.index(x)] = float(value)
        axes.imshow(cells, cmap="Blues")
        axes.set_xticks(range(len(columns)), [str(one) for one in columns])
        axes.set_yticks(range(len(rows)), [str(one) for one in rows])
        axes.set_xlabel(self._x)
        axes.set_ylabel(self._by)
        if len(rows) * len(columns) <= 400:
            dark = (max(map(max, cells)) + min(map(min, cells))) / 2
            for at, row in enumerate(cells):
                for column, value in enumerate(row):
                    colour = "white" if value > dark else "black"
                    axes.text(column, at, "%g" % value, ha="center", va="center", color=colour)


def as_list(values):
    return values.tolist() if hasattr(values, "tolist") else list(values)


def _line(table, x, y, stroke=None, title="", **others):
    return CustomChart(table, "line", x, y, stroke, title)


def _scatter(table, x, y, title="", **others):
    return CustomChart(table, "scatter", x, y, None, title)


def bar(table, label, value, title="", **others):
    return CustomChart(table, "bar", label, value, None, title)


def _histogram(table, value, title="", **others):
    return CustomChart(table, "histogram", value, None, None, title)


def _line_series(xs, ys, keys=None, title="", xname="x", **others):
    xs, ys = as_list(xs), [as_list(one) for one in ys]
    has_many = bool(xs) and hasattr(xs[0], "__iter__") and not isinstance(xs[0], str)
    xs = [as_list(one) for one in xs] if has_many else [xs] * len(ys)
    keys = as_list(keys) if keys is not None else ["line_%d" % at for at in range(len(ys))]
    rows = [[x, key, y] for one, key, line in zip(xs, keys, ys) for x, y in zip(one, line)]
    return CustomChart(Table(columns=[xname, "lineKey", "lineVal"], data=rows), "line", xname, "lineVal", "lineKey", title)


def confusion_matrix(probs=None, y_true=None, preds=None, class_names=None, title="Confusion Matrix", **others):
    if probs is not None:
        preds = [max(range(len(row)), key=row.__getitem__) for row in map(as_list, as_list(probs))]
    true, predicted = as_list(y_true), as_list(preds)
    if len(true) != len(predicted):
        raise Error("%d predictions belong to %d true classes" % (len(predicted), len(true)))
    seen = set(true) | set(predicted)
    if class_names is None:
        names = {one: one for one in sorted(seen)}
    elif seen <= set(class_names):
        names = {one: one for one in class_names}
    else:
        names = dict(enumerate(class_names))
    counts = {}
    for pair in zip(true, predicted):
        counts[pair] = counts.get(pair, 0) + 1
    rows = [[names[one], names[other], counts.get((one, other), 0)] for one in names for other in names]
    table = Table(columns=["Actual", "Predicted", "nPredictions"], data=rows)
    return CustomChart(table, "grid", "Predicted", "nPredictions", "Actual", title)


def _columns(classes, width, known):
    """The column of each class in a table of scores."""
    if known is not None and len(known) == width and set(classes) <= set(known):
        return {one: known.index(one) for one in classes}
    if len(classes) == width:
        return {one: at for at, one in enumerate(classes)}
    # A class that the test set lacks has a column, too.
    if all(isinstance(one, int) and 0 <= one < width for one in classes):
        return {one: one for one in classes}
    raise Error("the scores have %d columns for %d classes, and nothing says which is whose" % (width, len(classes)))


def _each_class(y_true, y_probas, labels, chosen, known):
    """The name of each class, whether each row is of it, and its scores."""
    true, scores = as_list(y_true), as_list(y_probas)
    classes = sorted(set(true))
    rows = [as_list(row) for row in scores] if scores and hasattr(scores[0], "__len__") else None
    # Scores in one dimension are those of the second class.
    columns = {one: 0 for one in classes[-1:]} if rows is None else _columns(classes, len(rows[0]), known)
    for one, column in columns.items():
        if chosen is not None and one not in chosen:
            continue
        has_label = labels is not None and isinstance(one, int) and not isinstance(one, bool) and 0 <= one < len(labels)
        yield (labels[one] if has_label else one), [other == one for other in true], (
            scores if rows is None else [row[column] for row in rows])


def _curve(columns, points, title):
    """A chart with one line for each class, of at most 500 points."""
    rows = []
    for name, xs, ys in points:
        every = -(-len(xs) // 500)
        kept = [at for at in range(len(xs)) if at % every == 0 or at == len(xs) - 1]
        rows += [[name, round(float(xs[at]), 6), round(float(ys[at]), 6)] for at in kept]
    return CustomChart(Table(columns=["class", *columns], data=rows), "line", *columns, "class", title)


def roc_curve(y_true=None, y_probas=None, labels=None, classes_to_plot=None, title="ROC Curve", model_classes=None,
               **others):
    from sklearn import metrics
    points = []
    for name, is_class, scores in _each_class(y_true, y_probas, labels, classes_to_plot, model_classes):
        wrong, right, _ = metrics.roc_curve(is_class, scores)
        points.append((name, wrong, right))
    return _curve(["fpr", "tpr"], points, title)


def pr_curve(y_true=None, y_probas=None, labels=None, classes_to_plot=None, interp_size=21,
              title="Precision-Recall Curve", model_classes=None, **others):
    from sklearn import metrics
    points = []
    for name, is_class, scores in _each_class(y_true, y_probas, labels, classes_to_plot, model_classes):
        precision, recall, _ = metrics.precision_recall_curve(is_class, scores)
        points.append((name, recall, precision))
    return _curve(["recall", "precision"], points, title)


def _heatmap(x_labels, y_labels, matrix_values, show_text=False, **others):
    rows = [[x, y, value] for y, row in zip(as_list(y_labels), as_list(matrix_values)) for x, value in zip(as_list(x_labels), as_list(row))]
    return CustomChart(Table(columns=["x", "y", "value"], data=rows), "grid", "x", "value", "y")


def plot_table(vega_spec_name=None, data_table=None, fields=None, string_fields=None, **others):
    return CustomChart(data_table, None)


def visualize(id, value):
    return CustomChart(value, None)


def safe(name, make):
    """The same function, whose failure does not end the program."""

    def call(*args, **others):
        try:
            return make(*args, **others)
        except Exception as error:
            says("%s is not drawn: %s" % (name, error))
            return None

    call.__name__ = name
    return call


PLOTS = {
    "line": _line, "line_series": _line_series, "scatter": _scatter, "bar": bar, "histogram": _histogram,
    "confusion_matrix": confusion_matrix, "roc_curve": roc_curve, "pr_curve": pr_curve,
    # Names of wandb.plots, which came before wandb.plot.
    "ROC": roc_curve, "precision_recall": pr_curve, "HeatMap": _heatmap, "heatmap": _heatmap,
    "plot_table": plot_table, "visualize": visualize,
}
PLOTS = {_name: safe(_name, _make) for _name, _make in PLOTS.items()}
plot_table, visualize = PLOTS["plot_table"], PLOTS["visualize"]
