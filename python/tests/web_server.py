"""A server whose answers a test chooses."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple


class Request(NamedTuple):
    method: str
    path: str
    headers: dict[str, str]
    body: bytes


Answer = tuple[int, Any, dict[str, str]]


class WebServer:
    """Serves `answer` on a port of its own, and keeps the requests."""

    def __init__(self, answer: Callable[[Request], Answer], port: int = 0) -> None:
        self.requests: list[Request] = []
        own = self

        class Handler(BaseHTTPRequestHandler):
            def respond(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                request = Request(self.command, self.path, dict(self.headers), body)
                own.requests.append(request)
                status, value, headers = answer(request)
                text = value if isinstance(value, bytes) else json.dumps(value).encode()
                self.send_response(status)
                for name, one in {"Content-Length": str(len(text)), **headers}.items():
                    self.send_header(name, one)
                self.end_headers()
                self.wfile.write(text)

            do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = respond

            def log_message(self, *_: Any) -> None:
                pass

        class Server(ThreadingHTTPServer):
            allow_reuse_address = True
            daemon_threads = True

        self._server = Server(("127.0.0.1", port), Handler)
        self.port = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def __enter__(self) -> WebServer:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()
