"""Runs processes one after the other on one core; prints what they took together as JSON.

Usage: measured_run.py <json>: {"core": 1, "steps": [{"argv": [...], "stdin": path or null}]}
Seconds of wall time and of processor time add up; the peak of resident memory, from wait4, is that of the largest
process. A program's fourth descriptor, where ours answers, is thrown away.
"""

import json
import os
import sys
import time

task = json.loads(sys.argv[1])
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, {task["core"] if task["core"] in os.sched_getaffinity(0) else min(os.sched_getaffinity(0))})
taken = {"seconds": 0.0, "cpu_seconds": 0.0, "peak_bytes": 0}
for step in task["steps"]:
    files = [
        (os.POSIX_SPAWN_OPEN, 0, step["stdin"] or os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
        (os.POSIX_SPAWN_OPEN, 3, task["answers"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600),
    ]
    started = time.perf_counter()
    pid = os.posix_spawn(step["argv"][0], step["argv"], os.environ, file_actions=files)
    _, status, usage = os.wait4(pid, 0)
    taken["seconds"] += time.perf_counter() - started
    taken["cpu_seconds"] += usage.ru_utime + usage.ru_stime
    # Linux counts kilobytes, macOS bytes.
    taken["peak_bytes"] = max(taken["peak_bytes"], usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024))
    if status != 0:
        answers = open(task["answers"], encoding="utf-8").read()[-600:]
        sys.exit(f"ended with {os.waitstatus_to_exitcode(status)}: {' '.join(step['argv'][:4])} {answers}")
print(json.dumps(taken))
