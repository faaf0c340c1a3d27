"""Runs MLflow's own tests against this service: a plugin for pytest, loaded by `run.ts` before the tests are.

Each test gets a user of its own, so that it finds no data of another, and reaches the service through a proxy on the
address that MLflow's own server would have had: it adds the path `/mlflow` and the token of that user, which the tests
do not know of. Models of the registry, whose names all users share, are deleted behind each test. The tests of MLflow's
stores get a `RestStore` on the same proxy. `expectations.toml` lists the tests that are left out and those that fail.
"""

import collections
import fnmatch
import http.client
import itertools
import json
import os
import threading
import tomllib
import urllib.parse
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

SERVICE = urllib.parse.urlsplit(os.environ["MLFLOW_SUITE_SERVICE"])
ADMIN = os.environ["MLFLOW_SUITE_ADMIN_TOKEN"]
PASSWORD = "a long sentence nobody guesses"
HOP = {"connection", "transfer-encoding", "content-length", "host", "authorization"}
# Tests of a store, with the client that takes its place.
STORES = {
    "tests/store/tracking/test_sqlalchemy_store.py": "mlflow.store.tracking.rest_store",
    "tests/store/model_registry/test_sqlalchemy_store.py": "mlflow.store.model_registry.rest_store",
}
EXPECTATIONS = tomllib.loads((Path(__file__).parent / "expectations.toml").read_text())
numbers = itertools.count()
SCHEME = "suite-local://"
current = {"token": ADMIN, "file": ""}
counts = collections.defaultdict(collections.Counter)


def ask(method, path, token=None, body=None, query=""):
    request = urllib.request.Request(
        f"{SERVICE.geturl()}{path}{query}",
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={
            "Content-Type": "application/json",
            **({"Authorization": f"Bearer {token}"} if token else {}),
        },
    )
    with urllib.request.urlopen(request) as response:
        return json.loads(response.read() or b"{}")


def become_new_user():
    name = f"suite{os.getpid()}x{next(numbers)}"
    body = {"username": name, "password": PASSWORD, "account_type": "developer"}
    ask("POST", "/users/", ADMIN, body)
    grant = {"grant_type": "password", "username": name, "password": PASSWORD}
    current["token"] = ask("POST", "/auth/token", body=grant)["access_token"]


def empty_registry():
    api = "/mlflow/api/2.0/mlflow/registered-models"
    while models := ask("GET", f"{api}/search", ADMIN).get("registered_models", []):
        for model in models:
            ask("DELETE", f"{api}/delete", ADMIN, {"name": model["name"]})


def is_store_test():
    return current["file"] in STORES


def with_scheme(body):
    """Tests of a store name local paths as sources, which MLflow's own server refuses, too."""
    sent = json.loads(body)
    if ":" not in (sent.get("source") or ":"):
        sent["source"] = f"{SCHEME}{sent['source']}"
    return json.dumps(sent).encode()


class Proxy(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def forward(self):
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length) if length else None
        headers = {k: v for k, v in self.headers.items() if k.lower() not in HOP}
        headers["Authorization"] = f"Bearer {current['token']}"
        connection = http.client.HTTPConnection(SERVICE.hostname, SERVICE.port)
        if is_store_test() and self.path.endswith("/model-versions/create"):
            body = with_scheme(body)
        connection.request(self.command, f"/mlflow{self.path}", body, headers)
        answer = connection.getresponse()
        content = answer.read().replace(SCHEME.encode(), b"")
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in HOP:
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)
        connection.close()

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = forward

    def log_message(self, *_):
        pass


class Server:
    """Stands in for the server that a test starts."""

    def __init__(self, _app=None, port=0):
        self.server = ThreadingHTTPServer(("127.0.0.1", port), Proxy)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"

    def __enter__(self):
        become_new_user()
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self.url

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
        empty_registry()

    def kill(self):
        self.__exit__()


def rest_store(client):
    """A fixture in the place of the one that makes a store on a database."""

    def store():
        import importlib

        from mlflow.utils.rest_utils import MlflowHostCreds

        with Server() as url:
            store = importlib.import_module(client).RestStore(lambda: MlflowHostCreds(url))
            if hasattr(store, "get_experiment"):
                # A store has the experiment "Default" from its beginning.
                store.DEFAULT_EXPERIMENT_ID = store.get_experiment("0").experiment_id
            create_run = getattr(store, "create_run", None)
            if create_run is not None:
                # The tests give no tags as None, and the client takes a list.
                store.create_run = lambda *args, **given: create_run(
                    *args, **given if len(args) > 3 else {**given, "tags": given.get("tags") or []}
                )
            yield store

    return store


def read_as_stores_do(entity):
    """A client has numbers of versions as text, and an empty text where a store has nothing; tests of stores compare them."""
    read = entity.from_proto.__func__

    def from_proto(cls, proto):
        found = read(cls, proto)
        if is_store_test():
            found._description = found._description or None
            if hasattr(found, "_version"):
                found._version = int(found._version)
            else:
                found._aliases = {alias: int(version) for alias, version in found._aliases.items()}
        return found

    entity.from_proto = classmethod(from_proto)


def pytest_configure():
    from mlflow.entities.model_registry import ModelVersion, RegisteredModel

    read_as_stores_do(ModelVersion)
    read_as_stores_do(RegisteredModel)
    import mlflow.server.handlers as handlers
    import mlflow.store.tracking.sqlalchemy_store as stores
    import mlflow.utils.workspace_context as workspaces
    import tests.tracking.integration_test_utils as utils

    # Tests of a fork that is some releases away from the client clear what the client does not have.
    if not hasattr(workspaces, "clear_workspace"):
        workspaces.clear_workspace = lambda: None

    if not hasattr(stores, "WorkspaceAwareSqlAlchemyStore"):
        stores.WorkspaceAwareSqlAlchemyStore = stores.SqlAlchemyStore

    utils.ServerThread = Server
    handlers.initialize_backend_stores = lambda *_, **__: None


def launch(_host, port, *_, **__):
    server = Server(None, port)
    server.__enter__()
    return server


def reason_in(list_name, item):
    """Why a test is on a list; None where it is not. Patterns are of its name, with its file, or with its parameters."""
    file, _, name = item.nodeid.removeprefix("tests/").partition("::")
    plain = item.originalname
    for entry in EXPECTATIONS[list_name]:
        for pattern in entry["tests"]:
            one = name if "[" in pattern else f"{file}::{plain}" if "::" in pattern else plain
            if fnmatch.fnmatchcase(one, pattern.replace("[", "[[]")):
                return entry["reason"]
    return None


def use_rest_stores(session):
    for fixture in session._fixturemanager._arg2fixturedefs.get("store", []):
        if client := STORES.get(fixture.baseid):
            fixture.func, fixture.argnames = rest_store(client), ()


def pytest_collection_modifyitems(session, config, items):
    kept, dropped = [], []
    use_rest_stores(session)
    for item in items:
        if hasattr(item.module, "_launch_server"):
            item.module._launch_server = launch
        if item.nodeid.partition("::")[0] in STORES and "cached_db" in item.fixturenames:
            item.fixturenames.remove("cached_db")
        # The kind of store behind a server makes no difference here, nor does a mode that is not served.
        call = getattr(item, "callspec", None)
        if call is not None and ("file" in call.params.values() or "workspace-enabled" in call.id):
            continue
        if reason_in("left_out", item) is not None:
            counts[item.nodeid.partition("::")[0]]["left out"] += 1
            dropped.append(item)
            continue
        if (reason := reason_in("fails", item)) is not None:
            item.add_marker(pytest.mark.xfail(reason=reason, strict=True))
        kept.append(item)
    config.hook.pytest_deselected(items=dropped)
    items[:] = kept


def pytest_runtest_setup(item):
    current["file"] = item.nodeid.partition("::")[0]


def pytest_runtest_logreport(report):
    file = report.nodeid.partition("::")[0]
    if report.when == "call" and report.passed:
        counts[file]["passed"] += 1
    elif hasattr(report, "wasxfail"):
        counts[file]["failed as listed"] += 1
    elif report.failed:
        counts[file]["failed"] += 1
    elif report.skipped:
        counts[file]["skipped by itself"] += 1


def pytest_terminal_summary(terminalreporter):
    kinds = ["passed", "failed as listed", "left out", "skipped by itself", "failed"]
    terminalreporter.write_line(f"| file | {' | '.join(kinds)} |")
    terminalreporter.write_line(f"|---|{'---|' * len(kinds)}")
    for file, found in sorted(counts.items()):
        terminalreporter.write_line(f"| {file} | {' | '.join(str(found[kind]) for kind in kinds)} |")
