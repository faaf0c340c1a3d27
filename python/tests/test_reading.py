from __future__ import annotations

import hashlib
import io
import json
import math
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any
from unittest import mock
from urllib.parse import parse_qs, unquote, urlsplit

import mps
from mps import follow
from mps.run import Run, RunError
from mps.runs import order_text
from mps.service import Service

from .test_connection import WithHome
from .web_server import Answer, Request, WebServer

PROJECT = "01jgk7y4m8s2v6x0b3n9q5r1tz"


def experiment(number: int, **fields: Any) -> dict[str, Any]:
    metric = {"last": number / 10, "min": 0, "max": 1, "step": 3, "time": "2026-01-02T03:04:05.678Z", "count": 4}
    return {
        **{"experiment_id": f"{number:026}", "project_id": PROJECT, "name": f"run-{number}", "kind": "train", "user": "ada"},
        **{"status": "SUCCEEDED", "status_reason": None, "params": {"lr": str(number)}, "tags": {}, "metrics": {"acc": metric}},
        **{"created_at": "2026-01-02T03:04:05.678Z", "started_at": None, "stopped_at": None, "duration": 2.5, "cost": None},
        **fields,
    }


class WithService(WithHome):
    """A service that answers a path by a function of the query."""

    def setUp(self) -> None:
        super().setUp()
        self.answers: dict[str, Any] = {"/": {"version": mps.__version__}}
        self.server = self.enter(WebServer(self.answer))
        self.service: Service = mps.connect(self.server.url, "u1.secret")

    def answer(self, request: Request) -> Answer:
        path = unquote(urlsplit(request.path).path)
        known = self.answers.get(path)
        value = known(parse_qs(urlsplit(request.path).query)) if callable(known) else known
        if value is None:
            return 404, {"type": "#problem-not-found", "detail": f"no {path}"}, {}
        return value if isinstance(value, tuple) else (200, value, {})

    def asked(self, path: str) -> list[dict[str, list[str]]]:
        parts = [urlsplit(one.path) for one in self.server.requests]
        return [parse_qs(one.query) for one in parts if unquote(one.path) == path]

    def run_of(self, record: dict[str, Any]) -> Run:
        return Run(self.service.connection, record)  # type: ignore[arg-type]


class ListsOfRuns(WithService):
    def test_they_are_read_as_far_as_they_are_asked_for(self) -> None:
        def page(query: dict[str, list[str]]) -> Answer:
            at = int(query.get("cursor", ["0"])[0])
            link = {"Link": f'</experiments?limit=200&cursor={at + 2}>; rel="next"'}
            return 200, [experiment(at), experiment(at + 1)], link if at < 4 else {}

        self.answers["/experiments"] = page
        runs = self.service.runs(filter="acc > 0.9", order="-acc")
        self.assertEqual(self.server.requests, [])

        first, some, everything = runs.first(), list(self.service.runs(limit=3)), list(runs)

        self.assertEqual(first and first.name, "run-0")
        self.assertEqual([one.name for one in some], ["run-0", "run-1", "run-2"])
        self.assertEqual(len(everything), 6)
        self.assertEqual(len(self.asked("/experiments")), 1 + 2 + 3)
        self.assertEqual(self.asked("/experiments")[0], {"filter": ["acc > 0.9"], "order_by": ["metrics.`acc` DESC"], "limit": ["200"]})

    def test_a_project_is_found_by_its_name_the_callers_own_first(self) -> None:
        named = [{"project_name": "digits", "project_id": str(at) * 26, "owner_id": f"u{at}", "owner": f"u{at}"} for at in (1, 2)]
        other = {**named[0], "owner_id": "u3", "project_name": "theirs"}
        self.answers["/projects/"] = [*named, other, {**other, "project_id": "3" * 26}]
        self.answers[f"/projects/{'1' * 26}/experiments"] = [experiment(1)]

        self.assertEqual([one.name for one in self.service.runs("digits")], ["run-1"])
        for name, fault in {
            "nothing": 'There is no project "nothing"',
            "theirs": "Several projects .* by its id: 1{26} of u1, 3{26}",
        }.items():
            with self.assertRaisesRegex(mps.Error, fault):
                list(self.service.runs(name))

    def test_an_order_is_that_of_the_command_or_of_the_service(self) -> None:
        orders = {
            "-acc": "metrics.`acc` DESC",
            "best": "best ASC",
            "-params.lr": "params.lr DESC",
            "metrics.loss DESC, name": "metrics.loss DESC, name",
            "val/loss": "metrics.`val/loss` ASC",
        }
        self.assertEqual([order_text(one) for one in list(orders)[:3]], list(orders.values())[:3])
        self.assertEqual(order_text("metrics.loss DESC"), "metrics.loss DESC")
        self.assertEqual(order_text(["-acc", "name"]), "metrics.`acc` DESC, name ASC")
        self.assertIsNone(order_text(None))

    def test_without_pandas_a_table_says_what_to_install(self) -> None:
        with mock.patch.dict("sys.modules", {"pandas": None}), self.assertRaisesRegex(mps.Error, "pip install pandas"):
            self.service.runs().df()


class OneRun(WithService):
    def test_points_of_a_run_that_goes_on_end_at_what_is_there(self) -> None:
        def page(query: dict[str, list[str]]) -> Answer:
            at = int(query.get("cursor", ["0"])[0])
            values = [1, "NaN", "-Infinity"]
            row = [{"name": "acc", "value": values[at], "step": at, "time": "2026-01-02T03:04:05.678Z"}] if at < 3 else []
            return 200, row, {"Link": f'<?cursor={at + 1}>; rel="next"'}

        run = self.run_of(experiment(1))
        self.answers[f"{run.path}/metrics"] = page

        found = run.metrics("acc")

        self.assertEqual((found.steps, found.values[0], math.isnan(found.values[1]), found.values[2]), ([0, 1, 2], 1, True, -math.inf))
        with self.assertRaisesRegex(mps.Error, "has no metric los. It has: acc."):
            self.answers[f"{run.path}/metrics"] = []
            run.metrics("los")

    def test_what_a_notebook_shows_of_it_runs_nothing(self) -> None:
        bad = "<script>alert(1)</script>' onerror='x"
        metrics = {bad: experiment(1)["metrics"]["acc"]}
        record = experiment(1, name=bad, status="FAILED", status_reason=bad, params={bad: bad}, metrics=metrics)
        run = self.run_of(record)
        self.answers[f"{run.path}/metrics"] = (200, b"<svg><script>1</script></svg>", {"Content-Type": "image/svg+xml"})
        self.answers["/experiments"] = [record]

        for shown in (run._repr_html_(), self.service.runs()._repr_html_()):
            self.assertNotIn("<script", shown)
            self.assertNotIn("' onerror", shown)
        self.assertIn("src='data:image/svg+xml;base64,", run._repr_html_())
        self.answers.clear()
        self.assertNotIn("<img", run._repr_html_())

    def test_its_files_are_checked_and_stay_in_the_folder(self) -> None:
        run = self.run_of(experiment(1))
        artifacts = f"{run.path}/artifacts"

        def rows(*paths: str, content: bytes = b"one") -> list[dict[str, Any]]:
            digest = hashlib.sha256(b"one").hexdigest()
            for path in paths:
                self.answers[f"{artifacts}/{path}"] = (200, content, {})
            return [{"path": path, "size": 3, "sha256": digest, "media_type": "text/plain"} for path in paths]

        self.answers[artifacts] = rows("model/a b.txt", "model/ü#?%41.txt", "other.txt")
        to = Path(self.home, "to")

        folder = run.pull("model/", to)
        file = run.pull("model/a b.txt", to)
        Path(to, "model/a b.txt").write_text("mine")
        with self.assertRaisesRegex(mps.Error, "exists with other content; nothing was downloaded"):
            run.pull(to=to)
        self.assertFalse(Path(to, "other.txt").exists())
        run.pull(to=to, force=True)

        self.assertEqual((folder, file), (to / "model", to / "model/a b.txt"))
        self.assertEqual(sorted(one.read_text() for one in to.rglob("*.txt")), ["one"] * 3)
        self.assertEqual(len(self.asked(f"{artifacts}/model/ü#?%41.txt")), 1)
        (to / "linked").symlink_to(self.home)
        for path in ("../out.txt", "/etc/out.txt", "..", "linked/out.txt", "linked/new/out.txt"):
            self.answers[artifacts] = rows(path)
            with self.assertRaisesRegex(mps.Error, "saved outside of"):
                run.pull(to=to)
        self.answers[artifacts] = rows("new.txt", content=b"two")
        with self.assertRaisesRegex(mps.Error, "did not arrive whole"):
            run.pull(to=to)
        self.assertEqual([one.name for one in to.iterdir() if one.name.startswith((".", "new"))], [])
        with self.assertRaisesRegex(mps.Error, "has no artifact nothing"):
            run.pull("nothing", to)

    def test_waiting_shows_its_log_through_an_outage_and_says_how_it_ended(self) -> None:
        run = self.run_of(experiment(1, status="RUNNING"))
        lines = [{"stream": "stdout", "message": "epoch 1"}, {"stream": "service", "message": "Attempt 1"}]
        failed = experiment(1, status="FAILED", status_reason="ValueError: no data")
        answers: list[Any] = [
            {"experiment": run.record, "log": lines, "after": "a", "retry_after": 0},
            (503, {"detail": "away"}, {"Retry-After": "999"}),
            {"experiment": failed, "log": [], "after": None, "retry_after": 0},
        ]
        self.answers[f"{run.path}/live"] = lambda query: answers.pop(0)

        with mock.patch.object(follow, "_pause", 0), redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as err:
            with self.assertRaisesRegex(RunError, "run-1 ended FAILED: ValueError: no data") as caught:
                run.wait()

        self.assertIs(caught.exception.run, run)
        self.assertEqual(out.getvalue(), "epoch 1\n")
        self.assertIn("Attempt 1", err.getvalue())
        self.assertIn("cannot be reached; retrying", err.getvalue())
        self.assertEqual(self.asked(f"{run.path}/live")[-1], {"parts": ["log"], "after": ["a"]})

    def test_a_rerun_keeps_the_types_of_its_values(self) -> None:
        run = self.run_of(experiment(1))
        self.answers[f"{run.path}/rerun"] = experiment(2)

        again = run.rerun(params={"lr": 0.5, "name": "007", "--flag": True}, gpus=1, tags={"a": "b"})

        (query,) = self.asked(f"{run.path}/rerun")
        self.assertEqual(again.name, "run-2")
        self.assertEqual(json.loads(query["overrides"][0]), {"lr": 0.5, "name": "007", "--flag": True})
        self.assertEqual((query["gpus"], json.loads(query["tags"][0])), (["1"], {"a": "b"}))


class ServedModels(WithService):
    def setUp(self) -> None:
        super().setUp()
        x, words = {"name": "x", "datatype": "FP32", "shape": [-1, 2]}, {"name": "words", "datatype": "BYTES", "shape": [-1]}
        self.answers["/v2/models/digits"] = {"name": "digits", "inputs": [x, words]}
        outputs = [
            {"name": "y", "datatype": "FP32", "shape": [2, 2], "data": [1, 2, 3, 4]},
            {"name": "label", "datatype": "BYTES", "shape": [2], "data": ["a", "b"]},
        ]
        self.answers["/v2/models/digits/infer"] = {"outputs": outputs}

    def test_nested_lists_come_and_go_without_numpy(self) -> None:
        answer = self.service.infer("digits", x=[[1, 2], [3, 4]])
        self.service.infer("digits", {"x": (1, 2), "words": ["a"]})

        first, second = (json.loads(one.body)["inputs"] for one in self.server.requests if one.method == "POST")
        self.assertEqual(answer, {"y": [[1, 2], [3, 4]], "label": ["a", "b"]})
        self.assertEqual(first, [{"name": "x", "datatype": "FP32", "shape": [2, 2], "data": [1, 2, 3, 4]}])
        self.assertEqual([one["shape"] for one in second], [[1, 2], [1]])

    def test_wrong_inputs_are_refused_in_a_sentence(self) -> None:
        wrong: list[tuple[Any, str]] = [
            ({}, "needs inputs. It has: x FP32"),
            ({"y": [1]}, "has no input y. It has: x FP32 .*words BYTES"),
            ({"x": [[1], [1, 2]]}, "same length"),
            ({"x": [[1, [2]]]}, "must be an array, or nested lists"),
            ({"x": [[math.nan, 1]]}, "are finite numbers"),
        ]
        for inputs, fault in wrong:
            with self.assertRaisesRegex(mps.Error, fault):
                self.service.infer("digits", inputs)
        with self.assertRaisesRegex(mps.Error, "no /v2/models/other"):
            self.service.infer("other", x=[1])
