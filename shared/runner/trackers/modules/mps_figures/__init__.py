"""Matplotlib's backend of a job: what a program shows is kept as a picture among its artifacts."""

import hashlib
import io
import itertools
import os
import sys
import weakref

from matplotlib._pylab_helpers import Gcf
from matplotlib.backend_bases import FigureManagerBase
from matplotlib.backends.backend_agg import FigureCanvasAgg

FigureManager = FigureManagerBase


class FigureCanvas(FigureCanvasAgg):
    def draw(self, *args, **others):
        # A figure that the program draws is no longer stale, and may have changed since it was kept.
        _unchanged.discard(self.figure)
        return super().draw(*args, **others)



_MAX_FIGURES = 500

_numbers = itertools.count(1)
_kept = {}
# Figures that were kept. One of them that is not stale needs no drawing to see that it is the same.
_unchanged = weakref.WeakSet()
_said = set()


def show(*_args, **_others):
    """Keep the open figures that have changed since they were kept last."""
    for manager in Gcf.get_all_fig_managers():
        try:
            _keep(manager)
        except Exception as error:
            _say("a figure is not kept: %s" % error)


def _keep(manager):
    figure = manager.canvas.figure
    if figure in _unchanged and not getattr(figure, "stale", True):
        return
    picture = io.BytesIO()
    figure.savefig(picture, format="png", bbox_inches="tight")
    figure.stale = False
    _unchanged.add(figure)
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
