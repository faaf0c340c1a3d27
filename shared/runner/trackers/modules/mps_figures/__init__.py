"""Matplotlib's backend of a job: what a program shows is kept as a picture among its artifacts."""

import hashlib
import io
import itertools
import os
import sys

from matplotlib._pylab_helpers import Gcf
from matplotlib.backend_bases import FigureManagerBase
from matplotlib.backends.backend_agg import FigureCanvasAgg

FigureCanvas = FigureCanvasAgg
FigureManager = FigureManagerBase

_MAX_FIGURES = 500

_numbers = itertools.count(1)
_kept = {}
_said = set()


def show(*_args, **_others):
    """Keep the open figures that have changed since they were kept last."""
    for manager in Gcf.get_all_fig_managers():
        try:
            _keep(manager)
        except Exception as error:
            _say("a figure is not kept: %s" % error)


def _keep(manager):
    picture = io.BytesIO()
    manager.canvas.figure.savefig(picture, format="png", bbox_inches="tight")
    content = picture.getvalue()
    digest = hashlib.sha256(content).hexdigest()
    if _kept.get(manager.num) == digest:
        return
    folder = os.path.join(os.environ.get("OUTPUT_DIR", "."), "figures")
    os.makedirs(folder, exist_ok=True)
    for number in _numbers:
        if number > _MAX_FIGURES:
            _say("more than %d figures are not kept" % _MAX_FIGURES)
            return
        try:
            # Another process of the program has numbers of its own.
            with open(os.path.join(folder, "figure_%d.png" % number), "xb") as file:
                file.write(content)
            break
        except FileExistsError:
            continue
    _kept[manager.num] = digest


def _say(message):
    if message not in _said and len(_said) < 100:
        _said.add(message)
        print("matplotlib: " + message, file=sys.stderr, flush=True)
