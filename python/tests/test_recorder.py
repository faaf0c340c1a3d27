from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
import threading
import time
from argparse import Namespace
from pathlib import Path
from typing import Any
from unittest import mock

import mps
from mps.recording import journal, media, recorder
from mps.recording.sender import Upload

from .test_connection import WithHome
from .web_server import Answer, Request, WebServer


class Scalar:
    """As those of NumPy and PyTorch."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def item(self) -> Any:
        return self.value


class Tensor:
    shape = (3, 4)

    def item(self) -> Any:
        raise RuntimeError("a Tensor with 12 elements cannot be converted to Scalar")


class Recording(WithHome):
    def setUp(self) -> None:
        super().setUp()
        before = Path.cwd()
        os.chdir(self.home)
        self.addCleanup(os.chdir, before)
        self.said = self.enter(contextlib.redirect_stderr(io.StringIO()))
        self.addCleanup(recorder._finish_all)

    def records(self) -> list[dict[str, Any]]:
        (file,) = Path(self.home, ".mps/offline").glob("*/records.ndjson")
        return [json.loads(line) for line in file.read_text().splitlines()]

    def points(self) -> list[tuple[str, int, Any]]:
        return [(name, one["step"], value) for one in self.records() for name, value in one.get("metrics", {}).items()]

    def lines(self) -> list[str]:
        return self.said.getvalue().splitlines()


class Values(Recording):
    def test_numbers_of_all_kinds_are_kept(self) -> None:
        run = mps.record("digits", offline=True)

        kept = [
            run.log(a=1, b=0.1, c=True, step=3),
            run.log({"val/loss": Scalar(2.5)}, big=10**300),
            run.log(nan=float("nan"), up=Scalar(float("inf")), down=float("-inf"), step=Scalar(7)),
            run.log(x=5, step=8.0),
        ]

        self.assertEqual(kept, [True] * 4)
        self.assertEqual(self.points()[:5], [("a", 3, 1.0), ("b", 3, 0.1), ("c", 3, 1.0), ("val/loss", 4, 2.5), ("big", 4, 1e300)])
        self.assertEqual(self.points()[5:], [("nan", 7, "NaN"), ("up", 7, "Infinity"), ("down", 7, "-Infinity"), ("x", 8, 5.0)])
        self.assertEqual(self.lines(), [])

    def test_what_is_no_number_is_one_sentence_and_the_rest_is_kept(self) -> None:
        run = mps.record("digits", offline=True)
        wrong: dict[str, Any] = {"tensor": Tensor(), "text": "0.5", "list": [1], "none": None, "complex": 1j, "huge": 10**400}

        for _ in range(3):
            kept = run.log({**wrong, "fine": 1.0})
        late = run.log(loss=1, step=0.5), run.log(loss=1, step=2**60), run.log(loss=1, step="3"), run.log(loss=1, step=Tensor())

        self.assertFalse(kept)
        self.assertEqual(late, (False,) * 4)
        self.assertEqual([name for name, _, _ in self.points()], ["fine"] * 3)
        self.assertEqual(len(self.lines()), len(wrong) + 4)
        self.assertIn("mps: tensor is left out: Tensor of shape (3, 4) is not one number.", self.lines())

    def test_names_that_the_service_refuses_are_said(self) -> None:
        run = mps.record("digits", offline=True, params={"a\nb": 1, "ok": 1}, tags=["x y"])

        for name in ("", "a" * 251, "../a", "a//b", "a/../b", "/a", "a?", "a\ud800", 7):
            self.assertFalse(run.log({name: 1.0}))
        kept = run.log({"é/ü.1-2: x": 1.0})
        files = run.file("missing"), run.image("../x", b"x"), run.table("t", [1, 2])

        self.assertFalse(run.log(0.5))  # type: ignore[arg-type]
        self.assertFalse(run.tag("import.run_id", "other"))
        self.assertTrue(kept)
        self.assertEqual(files, (False,) * 3)
        self.assertEqual(len(self.points()), 1)
        self.assertEqual(len(self.lines()), len(set(self.lines())))
        self.assertEqual([one["params"] for one in self.records() if "params" in one], [{"ok": "1"}])

    def test_params_come_from_dicts_namespaces_and_scalars(self) -> None:
        run = mps.record("digits", offline=True, params={"net": {"depth": 3, "act": "relu"}, "lr": 0.1, "on": True, "none": None})
        run.params(Namespace(seed=Scalar(4), sizes=[1, 2], other={1: {2: 3}}))
        run.param("half", "a\ud800")

        found = {name: value for one in self.records() for name, value in one.get("params", {}).items()}

        first = {"net.depth": "3", "net.act": "relu", "lr": "0.1", "on": "true", "none": "null"}
        self.assertEqual(found, {**first, "seed": "4", "sizes": "[1, 2]", "other.1.2": "3", "half": "a?"})

    def test_pictures_and_tables_are_files(self) -> None:
        run = mps.record("digits", offline=True)
        run.log(loss=1, step=4)

        class Figure:
            def savefig(self, file: io.BytesIO, format: str) -> None:
                file.write(b"figure")

        run.image("val/x", Figure())
        run.image("y", b"\xff\xd8jpeg", step=1)
        run.table("t", {"a": [1, 2], "b": ["x", "y,z"]})
        self.assertFalse(run.image("z", object()))

        files = [one["file"] for one in self.records() if "file" in one]
        (folder,) = Path(self.home, ".mps/offline").iterdir()
        self.assertEqual([one["path"] for one in files], ["images/val/x_step_4.png", "images/y_step_1.jpg", "tables/t_step_4.csv"])
        self.assertEqual((folder / files[2]["stored"]).read_text(), 'a,b\n1,x\n2,"y,z"\n')
        self.assertEqual(media.table_text([{"a": 1}, {"b": 2}]), b"a,b\n1,\n,2\n")


class Disk(Recording):
    def test_a_full_disk_is_one_sentence_and_later_records_are_whole(self) -> None:
        run = mps.record("digits", offline=True)
        write = os.write

        def full(file: int, text: bytes) -> int:
            return write(file, text[:5])

        run.log(loss=1, step=0)
        with mock.patch("os.write", full):
            lost = [run.log(loss=1, step=1), run.log(loss=1, step=2)]
        kept = run.log(loss=1, step=3)

        (file,) = Path(self.home, ".mps/offline").glob("*/records.ndjson")
        lines = file.read_bytes().splitlines()
        self.assertEqual((lost, kept), ([False, False], True))
        self.assertIn(b'"step":3', lines[-1])
        self.assertEqual(self.lines(), ["mps: the disk takes no records, which are lost until it does: the disk is full."])

    def test_a_folder_that_takes_nothing_leaves_the_training_alone(self) -> None:
        Path(self.home, ".mps").write_text("a file")

        run = mps.record("digits")
        kept = run.log(loss=1)
        run.finish()

        self.assertFalse(kept)
        self.assertIn("mps: this run is not recorded.", self.lines())

    def test_odd_arguments_and_a_removed_folder_leave_the_training_alone(self) -> None:
        gone = Path(self.home, "gone")
        gone.mkdir()
        os.chdir(gone)
        gone.rmdir()

        odd: Any = 5
        run = mps.record(odd, params=[1], name=odd, tags=odd, offline=True)
        kept = run.log(loss=1)

        self.assertTrue(kept)
        self.assertEqual([self.records()[0][name] for name in ("project", "name")], ["5", "5"])
        self.assertEqual(len(self.lines()), 2)

    def test_what_raises_when_it_is_asked_leaves_the_training_alone(self) -> None:
        class Hostile:
            @property
            def item(self) -> Any:
                raise RuntimeError

            def __str__(self) -> str:
                raise RuntimeError

            __repr__ = __str__

        odd: Any = None
        run = mps.record("digits", params={"a": Hostile()}, tags={"b": Hostile()}, offline=True)
        kept = run.log(x=Hostile()), run.file(odd), run.file("/dev/zero")

        self.assertEqual(self.records()[1]["params"], {"a": "Hostile"})
        self.assertEqual(kept, (False,) * 3)

    def test_a_person_without_a_home_leaves_the_training_alone(self) -> None:
        del os.environ["HOME"]
        gone = Path(self.home, "gone")
        gone.mkdir()
        os.chdir(gone)
        gone.rmdir()

        with mock.patch("pwd.getpwuid", side_effect=KeyError):
            run = mps.record("digits", offline=True)
            kept = run.log(loss=1)
            with self.assertRaisesRegex(mps.Error, "You are not signed in"):
                mps.connect()

        self.assertFalse(kept)
        self.assertIn("mps: this run is not recorded.", self.lines())

    def test_a_run_whose_first_line_finds_no_room_leaves_no_folder(self) -> None:
        write = os.write
        with mock.patch("os.write", lambda file, text: write(file, text[:5])):
            mps.record("digits", offline=True)

        self.assertEqual(list(Path(self.home, ".mps/offline").iterdir()), [])

    def test_links_and_pipes_in_a_folder_of_records_are_not_followed(self) -> None:
        outside = Path(self.home, "outside")
        outside.write_text('{"run_id": "r"}')
        folder = Path(self.home, ".mps/offline/a")
        folder.mkdir(parents=True)
        (folder / "records.ndjson").write_text("{}\n")
        for name in ("sent.json", "lock"):
            (folder / name).symlink_to(outside)

        self.assertEqual(journal.read_sent(folder), {})
        with self.assertRaises(OSError):
            journal.Leftover(folder)
        (folder / "lock").unlink()
        os.mkfifo(folder / "lock")
        with self.assertRaises(OSError):
            journal.Leftover(folder)

    def test_a_program_that_ends_does_not_wait_for_a_large_file_of_an_earlier_run(self) -> None:
        mps.record("digits", offline=True)
        (folder,) = Path(self.home, ".mps/offline").iterdir()
        service = mock.Mock()
        service.mlflow.return_value = {"credentials": [{"url": "http://127.0.0.1:9/part", "part_number": 1}], "upload_id": "u"}
        upload = Upload(folder, service, print, is_leftover=True)
        upload.stops = lambda: True

        with self.assertRaisesRegex(mps.Error, "^the program ends.$"):
            upload._send_parts("model", "large", io.BytesIO(b"x"), 1)

    def test_a_handler_of_a_signal_may_log_while_its_thread_does(self) -> None:
        run = mps.record("digits", offline=True)
        write = os.write

        def interrupted(file: int, text: bytes) -> int:
            with mock.patch("os.write", write):
                run.log(at_signal=1, step=0)
            return write(file, text)

        with mock.patch("os.write", interrupted):
            kept = run.log(loss=1, step=0)

        self.assertTrue(kept)
        self.assertEqual([name for name, _, _ in self.points()], ["at_signal", "loss"])

    def test_threads_and_forks_write_whole_lines(self) -> None:
        run = mps.record("digits", offline=True)

        def work(name: str) -> None:
            for step in range(300):
                run.log({name: step}, step=step)

        threads = [threading.Thread(target=work, args=(f"t{one}",)) for one in range(3)]
        for thread in threads:
            thread.start()
        children = []
        for one in range(2):
            child = os.fork()
            if child == 0:
                work(f"f{one}")
                run.finish()
                os._exit(0)
            children.append(child)
        for child in children:
            os.waitpid(child, 0)
        for thread in threads:
            thread.join()

        expected = {(name, step, float(step)) for name in ("t0", "t1", "t2", "f0", "f1") for step in range(300)}
        self.assertEqual(set(self.points()), expected)
        self.assertEqual(len(self.points()), len(expected))
        self.assertNotIn("end", self.records()[-1])


class Programs(Recording):
    def run_program(self, text: str, **env: str) -> subprocess.CompletedProcess[str]:
        source = str(Path(mps.__file__).parent.parent)
        return subprocess.run(
            [sys.executable, "-c", text], env={**os.environ, "PYTHONPATH": source, **env}, capture_output=True, text=True, check=False
        )

    def test_a_run_ends_as_its_program_does(self) -> None:
        begin = "import mps; r = mps.record('digits', offline=True); r.log(loss=1)\n"
        ends = {
            "": "FINISHED",
            "raise ValueError('x')": "FAILED",
            "with r: raise ValueError": "FAILED",
            "with r: raise KeyboardInterrupt": "KILLED",
            "with r: raise SystemExit(0)": "FINISHED",
            "import os, signal; os.kill(os.getpid(), signal.SIGKILL)": None,
        }
        found = {}
        for text in ends:
            self.run_program(begin + text)
            found[text] = self.records()[-1].get("end")
            (folder,) = Path(self.home, ".mps/offline").iterdir()
            folder.rename(Path(self.home, str(time.time_ns())))

        self.assertEqual(found, ends)

    def test_a_service_that_is_away_or_a_missing_login_is_said_and_nothing_is_lost(self) -> None:
        program = "import mps\nwith mps.record('digits') as r: print(r.log(loss=1))"

        away = self.run_program(program, MPS_URL="http://127.0.0.1:9", MPS_TOKEN="t")
        nobody = self.run_program(program)

        self.assertEqual([one.stdout for one in (away, nobody)], ["True\n"] * 2)
        self.assertIn("http://127.0.0.1:9 does not answer: Connection refused.", away.stderr)
        self.assertIn('run "mps login', nobody.stderr)
        self.assertIn("mps import --from offline", nobody.stderr)
        self.assertEqual(len(list(Path(self.home, ".mps/offline").iterdir())), 2)

    def test_a_token_or_a_project_that_is_refused_is_said_and_nothing_is_lost(self) -> None:
        program = "import mps\nwith mps.record('digits') as r: print(r.log(loss=1))"
        answers = {
            "ended": (401, {"error_code": "UNAUTHENTICATED", "message": "The token has expired."}),
            "foreign": (403, {"error_code": "PERMISSION_DENIED", "message": "This token creates no projects."}),
        }
        found = {}
        for name, (status, value) in answers.items():

            def answer(request: Request, status: int = status, value: Any = value) -> Answer:
                is_missing = status == 403 and request.method == "GET"
                return (404, {"error_code": "RESOURCE_DOES_NOT_EXIST"}, {}) if is_missing else (status, value, {})

            with WebServer(answer) as server:
                found[name] = self.run_program(program, MPS_URL=server.url, MPS_TOKEN="t")

        self.assertEqual([(one.stdout, one.returncode) for one in found.values()], [("True\n", 0)] * 2)
        self.assertIn('records yet: The token has expired. Run "mps login", or set MPS_TOKEN.\n', found["ended"].stderr)
        self.assertIn("records yet: This token creates no projects.\n", found["foreign"].stderr)
        self.assertEqual(len(list(Path(self.home, ".mps/offline").iterdir())), 2)

    def test_what_the_service_refuses_takes_nothing_else_with_it(self) -> None:
        stored: list[str] = []

        def answer(request: Request) -> Answer:
            if "get-by-name" in request.path:
                return 200, {"experiment": {"experiment_id": "p"}}, {}
            if "runs/create" in request.path:
                return 200, {"run": {"info": {"run_id": "p-e", "artifact_uri": "mlflow-artifacts:/p/p-e/artifacts"}}}, {}
            if "log-batch" not in request.path:
                return 200, {}, {}
            sent = json.loads(request.body)
            keys = [one["key"] for kind in ("metrics", "params", "tags") for one in sent.get(kind, [])]
            if "bad" in keys:
                return 400, {"error_code": "INVALID_PARAMETER_VALUE", "message": "bad is refused."}, {}
            stored.extend(keys)
            return 200, {}, {}

        program = """
import mps
with mps.record("digits", params={"bad": 1, "fine": 2}) as r:
    for step in range(3): r.log(a=1, bad=2, b=3, step=step)
"""
        with WebServer(answer) as server:
            ended = self.run_program(program, MPS_URL=server.url, MPS_TOKEN="t")

        self.assertEqual(sorted(stored), ["a"] * 3 + ["b"] * 3 + ["fine"])
        self.assertIn("mps: the param bad is not recorded: bad is refused.\n", ended.stderr)
        self.assertIn("mps: the metric bad is not recorded: bad is refused.\n", ended.stderr)
        self.assertEqual(list(Path(self.home, ".mps/offline").iterdir()), [])

    def test_a_run_that_an_import_has_begun_is_found_and_an_answer_lost_at_the_end_is_no_outage(self) -> None:
        counts = {"create": 0, "update": 0}
        info = {"run_id": "p-e", "artifact_uri": "mlflow-artifacts:/p/p-e/artifacts"}

        def answer(request: Request) -> Answer:
            name = request.path.rpartition("/")[2]
            if name in counts:
                counts[name] += 1
            if name == "update" and counts[name] == 1:
                return 503, {}, {}
            return 200, {"experiment": {"experiment_id": "p"}, "runs": [{"info": info}], "run": {"info": info}}, {}

        program = "import mps\nfrom mps.recording.sender import Sender\nSender.pause = 0.01\nwith mps.record('digits') as r: r.log(loss=1)"
        with WebServer(answer) as server:
            self.run_program(program, MPS_URL=server.url, MPS_TOKEN="t")

        self.assertEqual(counts, {"create": 0, "update": 2})
        self.assertEqual(list(Path(self.home, ".mps/offline").iterdir()), [])

    def test_a_job_records_into_its_own_experiment_by_its_files(self) -> None:
        program = """
import mps
with mps.record("other", offline=True) as r:
    r.log(loss=0.5, acc=float("inf"), step=3)
    r.image("x", b"png")
    r.param("lr", 1)
"""
        job = {"EXPERIMENT_ID": "e", "PROJECT_ID": "p", "METRICS_FILE": f"{self.home}/metrics", "OUTPUT_DIR": f"{self.home}/out"}

        ended = self.run_program(program, **job)
        other = self.run_program(program, **job, RANK="1")

        rows = [json.loads(line) for line in Path(self.home, "metrics").read_text().splitlines()]
        self.assertEqual([(one["name"], one["value"], one["step"]) for one in rows], [("loss", 0.5, 3), ("acc", float("inf"), 3)])
        self.assertAlmostEqual(rows[0]["time"], time.time(), delta=300)
        self.assertEqual([one.name for one in Path(self.home, "out/images").iterdir()], ["x_step_3.png"])
        self.assertEqual(ended.stderr, "mps: params are not recorded: this job has no server that takes them.\n")
        self.assertEqual(other.stderr, "mps: rank 1 records nothing: rank 0 does.\n")
        self.assertFalse(Path(self.home, ".mps").exists())
