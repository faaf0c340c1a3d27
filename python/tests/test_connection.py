from __future__ import annotations

import contextlib
import io
import json
import os
import tempfile
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

import mps
from mps import connection
from mps.connection import Connection

from .web_server import Answer, Request, WebServer


class WithHome(unittest.TestCase):
    """Runs each test in a home of its own, with no variable of the service."""

    def setUp(self) -> None:
        self.home = self.enter(tempfile.TemporaryDirectory())
        kept = {name: os.environ[name] for name in ("PATH",) if name in os.environ}
        self.enter(mock.patch.dict(os.environ, {**kept, "HOME": self.home}, clear=True))

    def enter(self, manager: Any) -> Any:
        value = manager.__enter__()
        self.addCleanup(manager.__exit__, None, None, None)
        return value

    def save_logins(self, *logins: dict[str, str], mode: int = 0o600) -> None:
        file = Path(self.home, ".config/mps/logins.json")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(logins))
        file.chmod(mode)


class Logins(WithHome):
    def test_the_last_login_is_used_and_variables_come_first(self) -> None:
        self.save_logins({"url": "https://b.test", "token": "b"}, {"url": "https://a.test", "token": "a"})

        first = mps.connect()
        os.environ["MPS_URL"] = "https://A.test/"
        other = mps.connect()
        os.environ["MPS_TOKEN"] = "named"
        named = mps.connect()

        self.assertEqual([one.url for one in (first, other, named)], ["https://b.test", "https://a.test", "https://a.test"])
        self.assertEqual([one.connection._token for one in (first, other, named)], ["b", "a", "named"])

    def test_a_job_is_the_login_of_its_program(self) -> None:
        job = {"EXPERIMENT_ID": "e", "PROJECT_ID": "p", "METRICS_FILE": "/m"}
        os.environ.update(job, MLFLOW_TRACKING_URI="http://127.0.0.1:9", MLFLOW_TRACKING_TOKEN="own")

        found = mps.connect().connection

        self.assertEqual((found.url, found._token, found.job), ("http://127.0.0.1:9", "own", True))

    def test_what_is_wrong_is_said_in_one_sentence(self) -> None:
        wrong = {
            "ftp://a": "must start with https://",
            "https://": "must start with https://",
            "https://a:99999": "must start with https://",
            "http://a.test": "clear text",
            "https://me:secret@a.test": "must not contain a user name",
        }
        for url, message in wrong.items():
            with self.assertRaisesRegex(mps.Error, message):
                mps.connect(url, "token")
        with self.assertRaisesRegex(mps.Error, 'You are not signed in to https://a.test: run "mps login https://a.test"'):
            mps.connect("https://a.test")
        self.save_logins({"url": "https://a.test", "token": "a"}, mode=0o644)
        with self.assertRaisesRegex(mps.Error, "Other users can read your tokens"):
            mps.connect()
        self.save_logins({"url": "https://a.test"})
        with self.assertRaisesRegex(mps.Error, "is damaged"):
            mps.connect()

    def test_a_run_of_ci_signs_in_and_again_before_its_token_ends(self) -> None:
        def answer(request: Request) -> Answer:
            if request.method == "GET":
                return 200, {"value": f"signed for {request.path.partition('audience=')[2]}"}, {}
            if request.path == "/auth/oidc/exchange":
                return 200, {"access_token": f"token {len(server.requests)}", "expires_in": 301}, {}
            return 200, {"sent": request.headers["Authorization"]}, {}

        with WebServer(answer) as server:
            os.environ.update(MPS_URL=server.url, ACTIONS_ID_TOKEN_REQUEST_URL=f"{server.url}/id?a=1", ACTIONS_ID_TOKEN_REQUEST_TOKEN="x")
            service = mps.connect()
            first = service.request("POST", "/projects/")
            again = service.request("POST", "/projects/")
            with mock.patch("time.time", return_value=9e9):
                later = service.request("POST", "/projects/")

        self.assertEqual([first["sent"], again["sent"], later["sent"]], ["Bearer token 2", "Bearer token 2", "Bearer token 6"])


class Requests(WithHome):
    def test_a_call_is_repeated_where_that_changes_nothing(self) -> None:
        def answer(request: Request) -> Answer:
            same = [one for one in server.requests if one.path == request.path]
            return (200, {"count": len(same)}, {}) if len(same) == 2 else (503, {"detail": "Busy."}, {"Retry-After": "0"})

        with WebServer(answer) as server:
            service = Connection(server.url, "t")
            read = service.request("GET", "/a b/ü", query={"x": [1, 2], "none": None, "yes": True})
            made = service.request("POST", "/made")
            with self.assertRaisesRegex(mps.Error, "Busy.") as refused:
                service.request("POST", "/auth/token")

        self.assertEqual((read, made, refused.exception.status), ({"count": 2}, {"count": 2}, 503))
        self.assertEqual(server.requests[0].path, "/a%20b/%C3%BC?x=1&x=2&yes=true")
        keys = {one.headers["Idempotency-Key"] for one in server.requests if one.path == "/made"}
        self.assertEqual(len(keys), 1)

    def test_a_list_comes_page_after_page(self) -> None:
        def answer(request: Request) -> Answer:
            if "after" in request.path:
                return 200, [3], {}
            return 200, [1, 2], {"Link": '</runs?limit=2&after=x%2By>; rel="next"'}

        with WebServer(answer) as server:
            rows = list(Connection(server.url).rows("/runs", query={"limit": 2}))

        self.assertEqual((rows, server.requests[1].path), ([1, 2, 3], "/runs?limit=2&after=x%2By"))

    def test_a_download_follows_its_redirect_without_the_token(self) -> None:
        with WebServer(lambda _: (200, b"bytes", {})) as storage:
            with WebServer(lambda _: (302, b"", {"Location": f"{storage.url}/signed"})) as server:
                with Connection(server.url, "secret").open("GET", "/file") as found:
                    read = found.read()
                with self.assertRaises(mps.Error):
                    Connection(server.url, "secret").request("POST", "/file", body=b"x")

        self.assertEqual(read, b"bytes")
        self.assertNotIn("Authorization", storage.requests[0].headers)
        self.assertEqual(len(storage.requests), 1)

    def test_faults_are_one_sentence_with_their_kind(self) -> None:
        answers: dict[str, Answer] = {
            "/problem": (404, {"type": "/docs#problem-not-found", "detail": "There is no such project."}, {}),
            "/mlflow": (400, {"error_code": "INVALID_PARAMETER_VALUE", "message": "Invalid value."}, {}),
            "/html": (200, b"<html>", {}),
            "/ended": (401, {"detail": "The token has expired."}, {}),
            "/gone": (500, b"", {}),
        }
        with WebServer(lambda request: answers[request.path]) as server:
            service = Connection(server.url, "t")
            found = {}
            for path in answers:
                with self.assertRaises(mps.Error) as raised:
                    service.request("GET", path)
                found[path] = (str(raised.exception), raised.exception.status, raised.exception.kind)
        with self.assertRaisesRegex(mps.Error, f"^{server.url} does not answer: Connection refused.$"):
            service.request("GET", "/away")

        self.assertEqual(found["/problem"], ("There is no such project.", 404, "not-found"))
        self.assertEqual(found["/mlflow"], ("Invalid value.", 400, "INVALID_PARAMETER_VALUE"))
        self.assertEqual(found["/ended"], ('The token has expired. Run "mps login", or set MPS_TOKEN.', 401, ""))
        self.assertRegex(found["/html"][0], "does not answer like the service: GET /html returned no JSON")
        self.assertRegex(found["/gone"][0], "HTTP status 500")

    def test_a_token_that_no_header_takes_is_not_shown(self) -> None:
        os.environ.update(MPS_URL="http://127.0.0.1:9", MPS_TOKEN="of a file\n")
        token = mps.connect().connection.token()
        found = set()
        for wrong in ("secret\nline", "secret\u2026"):
            with self.assertRaises(mps.Error) as raised:
                Connection("http://127.0.0.1:9", wrong).request("GET", "/")
            found.add(str(raised.exception))

        self.assertEqual(token, "of a file")
        self.assertEqual(found, {"Authorization cannot be sent: a token is one line of ASCII characters."})

    def test_a_proxy_is_for_other_machines(self) -> None:
        with WebServer(lambda _: (200, {"own": True}, {})) as server:
            with WebServer(lambda _: (200, {"proxied": True}, {})) as proxy:
                os.environ.update(http_proxy=proxy.url, HTTP_PROXY=proxy.url)
                with mock.patch.dict(connection._openers, clear=True):
                    own = Connection(server.url).request("GET", "/")
                    other = Connection("http://service.test").request("GET", "/")

        self.assertEqual((own, other), ({"own": True}, {"proxied": True}))

    def test_a_package_of_another_version_is_named_once(self) -> None:
        with WebServer(lambda _: (200, {"version": "0.3.0"}, {})) as server, mock.patch.object(connection, "version", "0.2.0"):
            service = Connection(server.url)
            with contextlib.redirect_stderr(io.StringIO()) as said:
                service.request("GET", "/a")
                service.request("GET", "/b")

        self.assertEqual(said.getvalue().count("\n"), 1)
        self.assertIn("this package is 0.2.0, its service 0.3.0", said.getvalue())
