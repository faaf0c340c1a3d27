from __future__ import annotations

import io
import json
from contextlib import redirect_stderr
from pathlib import Path
from typing import Any
from unittest import mock

import mps

from .test_reading import PROJECT, WithService, experiment


class Scalar:
    """A number as numpy and torch hand it out."""

    def __init__(self, *values: float) -> None:
        self.values = values

    def item(self) -> float:
        if len(self.values) > 1:
            raise ValueError("several")
        return self.values[0]


class Beginnings(WithService):
    """What is handed to the command, which packs the folder."""

    def setUp(self) -> None:
        super().setUp()
        self.command = self.enter(mock.patch("mps.command.run_command", return_value=json.dumps(experiment(7))))

    def words(self) -> list[str]:
        return list(self.command.call_args.args[0])

    def test_a_run_has_its_words_apart(self) -> None:
        run = self.service.run(
            "train.py --epochs 5", params={"lr": 0.1, "--name": "-x"}, gpus=2, name="--json", stop_if=["nan: loss"], folder="/f"
        )

        self.assertEqual(run.id, experiment(7)["experiment_id"])
        self.assertEqual(
            self.words(),
            ["run", "--detach", "--json", "--gpus=2", "--name=--json", "--stop-if=nan: loss", "--set=lr=0.1", '--set=--name="-x"']
            + ["--", "python3", "train.py", "--epochs", "5"],
        )
        self.assertEqual(self.command.call_args.kwargs, {"url": self.server.url, "token": "u1.secret", "folder": "/f"})

    def test_a_command_is_a_text_words_or_the_folders_own(self) -> None:
        commands: list[tuple[Any, list[str]]] = [
            (None, []),
            (["sh", "-c", "a; b"], ["--", "sh", "-c", "a; b"]),
            (Path("my dir/train.py"), ["--", "python3", "my dir/train.py"]),
            ("train.ipynb -p lr 0.1", ["--", "train.ipynb", "-p", "lr", "0.1"]),
            ("./go.sh", ["--", "sh", "./go.sh"]),
        ]
        for command, words in commands:
            self.service.run(command)
            self.assertEqual(self.words()[3:], words)
        with self.assertRaisesRegex(mps.Error, "command must have a word"):
            self.service.run("  ")

    def test_params_keep_their_types_and_wrong_ones_are_refused(self) -> None:
        params = {"a": "007", "b": "true", "c": True, "d": None, "e": Scalar(0.5), "f": [1, "x"], "g": Path("data"), "h": "é[", "i": 1e-7}
        self.service.run(params=params)

        values = ['"007"', '"true"', "true", "null", "0.5", '[1, "x"]', '"data"', '"é["', "1e-07"]
        self.assertEqual(self.words()[3:], [f"--set={name}={value}" for name, value in zip(params, values)])
        for wrong, fault in (
            (float("nan"), "lr is nan; a param must be finite"),
            (Scalar(1, 2), "lr has several values"),
            (object(), "lr is a object; a param is a text, a number"),
            ([float("inf")], "a param is a text"),
        ):
            with self.assertRaisesRegex(mps.Error, fault):
                self.service.run(params={"lr": wrong})

    def test_a_sweep_is_waited_for_and_names_its_best(self) -> None:
        counts = {"complete": 2, "stopped_early": 0, "failed": 0, "cancelled": 0, "running": 0}
        sweep = {"sweep_id": "s" * 26, "project_id": PROJECT, "name": "rates", "status": "COMPLETED", "status_reason": None}
        best = {"trial": 1, "params": {"lr": 0.2}, "value": 0.01, "last": 0.02, "deviation": None, "step": 3}
        record = {**sweep, "metric": "loss", "trials": 2, "repeats": 1, "counts": counts, "best": best}
        self.command.return_value = json.dumps({**record, "status": "RUNNING", "best": None})
        path = f"/projects/{PROJECT}/sweeps/{'s' * 26}"
        self.answers[path] = record

        self.enter(redirect_stderr(io.StringIO()))
        found = self.service.sweep("sweep.yaml", params={"lr": "1e-4..1e-1:log", "depth": [2, 4], "epochs": 5}, trials=2)

        self.assertEqual(found.best.params, {"lr": 0.2})
        self.assertEqual(
            self.words(),
            [
                "sweep",
                "--detach",
                "--json",
                "--trials=2",
                "--set=lr=1e-4..1e-1:log",
                "--set=depth=2,4",
                "--set=epochs=5",
                "./sweep.yaml",
            ],
        )
        self.answers[path] = {**record, "status": "PAUSED", "status_reason": "Its budget is used up.", "best": None}
        with self.assertRaisesRegex(mps.Error, "The sweep rates is PAUSED: Its budget is used up"):
            self.service.sweep()
        with self.assertRaisesRegex(mps.Error, "No trial of rates has ended with a value of loss"):
            _ = self.service.sweep(check=False).best
