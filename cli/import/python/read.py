"""Answer questions about what another tracker has recorded.

`mps import` starts `python read.py READER PATH SCRATCH` and writes requests such as ["7", "points", RUN], each on a line.
Each is answered by a line with the next items of that list, so a long run is never whole in memory.
It needs Python 3.8 and, apart from the reader of Aim, no package.
"""
import importlib
import itertools
import json
import math
import os
import signal
import sys

ITEMS_AT_ONCE = {"points": 2000, "runs": 100}


def main():
    answers = os.fdopen(os.dup(1), "w", encoding="ascii")
    # What a tracker's package prints is no answer.
    os.dup2(2, 1)
    # After Ctrl-C, `mps` ends this by closing its input.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    name, path, scratch = sys.argv[1:4]

    def answer(value):
        try:
            line = json.dumps(value, allow_nan=False, default=str)
        except ValueError:
            line = json.dumps(finite(value), default=str)
        answers.write(line + "\n")
        answers.flush()

    try:
        source = importlib.import_module(name).open_source(path, scratch)
    except ModuleNotFoundError as error:
        return answer({"lacks": error.name})
    except Exception as error:
        return answer({"error": text_of(error)})
    answer({})
    lists = {}
    for line in sys.stdin.buffer:
        # The first part tells two requests for one list apart.
        key, kind, *given = json.loads(line)
        try:
            if key not in lists:
                lists[key] = iter(getattr(source, kind)(*given))
            count = ITEMS_AT_ONCE.get(kind, 1000)
            items = list(itertools.islice(lists[key], count))
            more = len(items) == count
            if not more:
                del lists[key]
            answer({"items": items, "more": more, **({} if more else source.notes(kind, *given))})
        except Exception as error:
            lists.pop(key, None)
            answer({"error": text_of(error)})


def finite(value):
    """Return a value with null for numbers that JSON does not have."""
    if isinstance(value, dict):
        return {key: finite(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def text_of(error):
    return f"{type(error).__name__}: {error}"


if __name__ == "__main__":
    main()
