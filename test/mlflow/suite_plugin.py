"""Runs MLflow's own tests against this service: a plugin for pytest, loaded by `suite.ts` before the tests are.

Each test gets a user of its own, so that it finds no data of another, and reaches the service through a proxy on the
address that MLflow's own server would have had: it adds the path `/mlflow` and the token of that user, which the tests
do not know of. Models of the registry, whose names all users share, are deleted behind each test.
"""

import http.client
import itertools
import json
import os
import threading
import urllib.parse
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SERVICE = urllib.parse.urlsplit(os.environ["MLFLOW_SUITE_SERVICE"])
ADMIN = os.environ["MLFLOW_SUITE_ADMIN_TOKEN"]
PASSWORD = "a long sentence nobody guesses"
HOP = {"connection", "transfer-encoding", "content-length", "host", "authorization"}
numbers = itertools.count()
current = {"token": ADMIN}


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
    for model in ask("GET", f"{api}/search", ADMIN).get("registered_models", []):
        ask("DELETE", f"{api}/delete", ADMIN, {"name": model["name"]})


class Proxy(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def forward(self):
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length) if length else None
        headers = {k: v for k, v in self.headers.items() if k.lower() not in HOP}
        headers["Authorization"] = f"Bearer {current['token']}"
        connection = http.client.HTTPConnection(SERVICE.hostname, SERVICE.port)
        connection.request(self.command, f"/mlflow{self.path}", body, headers)
        answer = connection.getresponse()
        content = answer.read()
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


def pytest_configure():
    import mlflow.server.handlers as handlers
    import mlflow.utils.workspace_context as workspaces
    import tests.tracking.integration_test_utils as utils

    # Tests of a fork that is some releases away from the client clear what the client does not have.
    if not hasattr(workspaces, "clear_workspace"):
        workspaces.clear_workspace = lambda: None

    utils.ServerThread = Server
    handlers.initialize_backend_stores = lambda *_, **__: None


def launch(_host, port, *_, **__):
    server = Server(None, port)
    server.__enter__()
    return server


def pytest_collection_modifyitems(items):
    for item in items:
        if hasattr(item.module, "_launch_server"):
            item.module._launch_server = launch
    # The kind of store behind a server makes no difference here.
    items[:] = [i for i in items if "file" not in getattr(getattr(i, "callspec", None), "params", {}).values()]
