"""Lines in the log of the job."""
import functools
import sys


class Says:
    """Says each message once, under the name of the tracker."""

    def __init__(self, tracker):
        self.tracker = tracker
        self._said = set()

    def __call__(self, message):
        if message not in self._said and len(self._said) < 100:
            self._said.add(message)
            print("%s: %s" % (self.tracker, message), file=sys.stderr, flush=True)


def guarded(says, otherwise=None):
    """What cannot be recorded, such as a cycle or an object that fails, is said and left out: the program goes on."""

    def decorate(method):
        @functools.wraps(method)
        def call(*args, **others):
            try:
                return method(*args, **others)
            except Exception as error:
                says("a call of %s is left out: %s" % (method.__name__.strip("_"), type(error).__name__))
                return otherwise

        return call

    return decorate
