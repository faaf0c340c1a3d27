"""Trains a small neural network on handwritten digits, stage by stage as its configuration says."""

import argparse
import json
import os
import time
from pathlib import Path

# Products as small as these take longer on several threads. Read when numpy is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import yaml

from cluster import Cluster
from stages import STAGES


class Run:
    """What the stages share: where to write, the cluster, and how to report a metric."""

    def __init__(self, seed):
        self.seed = seed
        self.cluster = Cluster()
        self.output = Path(os.environ.get("OUTPUT_DIR", "output"))
        self.checkpoints = Path(os.environ.get("CHECKPOINT_DIR", "checkpoints"))
        self.metrics = Path(os.environ.get("METRICS_FILE", "metrics.jsonl"))
        for folder in (self.output, self.checkpoints):
            folder.mkdir(parents=True, exist_ok=True)

    def report(self, step, **values):
        """Appends values to METRICS_FILE, one JSON line each."""
        if not self.cluster.is_main:
            return
        with self.metrics.open("a") as file:
            for name, value in values.items():
                file.write(json.dumps({"name": name, "value": float(value), "step": step, "time": time.time()}) + "\n")


def run_stages(stages, run):
    """Runs every stage once what it depends on is there, and hands its outputs on by name."""
    made = {}
    waiting = dict(stages)
    while waiting:
        ready = [name for name, stage in waiting.items() if all(dep in made for dep in stage.get("deps", []))]
        if not ready:
            raise SystemExit(f"nothing makes what these stages depend on: {', '.join(waiting)}")
        for name in ready:
            stage = waiting.pop(name)
            outs = stage.get("outs", [])
            if stage.get("main_node_only") and not run.cluster.is_main:
                results = [None] * len(outs)
            else:
                print(f"== {name}")
                results = STAGES[stage["run"]](run, stage, *(made[dep] for dep in stage.get("deps", [])))
            made.update(zip(outs, results or []))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--config", required=True)
    config = yaml.safe_load(Path(parser.parse_args().config).read_text())
    run_stages(config["stages"], Run(config["seed"]))


if __name__ == "__main__":
    main()
