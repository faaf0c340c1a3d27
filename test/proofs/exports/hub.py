"""A Hub on this machine: what huggingface_hub asks of one, and how one refuses.

Usage: hub.py <folder>. Prints its port, and on its end (a line on stdin) what it counted. The folder has <owner>/<name>/ of
files. Names below `refused/` say how they misbehave: gated, limited (429), away (503), flaky (429 once, then a body that ends
too early), huge and longer (a size that the files do not have), page (no Hub, but some page), circle (redirects without end),
renamed (redirects to the gated one), moved (redirects to it at another host).
"""

import hashlib
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

COMMIT = "c0ffee" * 6 + "c0de"
STORED = (".safetensors", ".bin", ".onnx", ".gguf")
READER = "hf_reader"
counted = {"requests": 0, "ranges": 0, "redirects": 0, "tokens_beyond_the_hub": 0, "limited": 0, "cut": 0}
seen = set()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    root = Path(sys.argv[1]).resolve()

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        counted["requests"] += 1
        path = unquote(urlsplit(self.path).path)
        parts = path.strip("/").split("/")
        # Another name of this machine stands for another host.
        if "Authorization" in self.headers and self.headers.get("Host", "").startswith("localhost"):
            counted["tokens_beyond_the_hub"] += 1
        if "refused/page" in path:
            return self.answer(200, b"<html>Welcome</html>", {"Content-Type": "text/html"})
        places = {"refused/renamed": "", "refused/moved": f"http://localhost:{self.server.server_address[1]}"}
        for name, host in places.items():
            if name in path:
                counted["redirects"] += 1
                return self.answer(307, b"", {"Location": host + self.path.replace(name, "refused/gated")})
        if "refused/circle" in path:
            return self.answer(307, b"", {"Location": self.path})
        if parts[0] == "stored":
            return self.stored(path[len("/stored/") :])
        if parts[:2] == ["api", "models"]:
            return self.describe("/".join(parts[2:4]), parts[5] if parts[4:5] == ["revision"] else "main")
        if "resolve" in parts:
            at = parts.index("resolve")
            return self.resolve("/".join(parts[:at]), parts[at + 1], "/".join(parts[at + 2 :]))
        return self.refuse(404, "RepoNotFound")

    def repository(self, name, revision):
        folder = self.root / name
        if name.count("/") != 1 or not folder.is_dir() or self.root not in folder.resolve().parents:
            # The Hub does not say whether a model is absent or private.
            self.refuse(401, "RepoNotFound")
        elif revision not in ("main", COMMIT):
            self.refuse(404, "RevisionNotFound")
        else:
            return folder
        return None

    def describe(self, name, revision):
        folder = self.repository(name, revision)
        if folder is None:
            return None
        siblings = []
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                false = {"refused/huge": 3 * 2**30, "refused/longer": 3}
                size = false[name] if name in false and path.suffix in STORED else path.stat().st_size
                siblings.append({"rfilename": path.relative_to(folder).as_posix(), "size": size})
        body = {"id": name, "sha": COMMIT, "siblings": siblings, "tags": [], "gated": "manual" if name.endswith("/gated") else False}
        return self.answer(200, json.dumps(body).encode(), {"Content-Type": "application/json"})

    def resolve(self, name, revision, file):
        folder = self.repository(name, revision)
        if folder is None:
            return None
        token = self.headers.get("Authorization", "")
        if name.endswith("/gated") and token != f"Bearer {READER}":
            return self.refuse(403 if token else 401, "GatedRepo")
        if name.endswith("/limited") or (name.endswith("/flaky") and file not in seen):
            seen.add(file)
            counted["limited"] += 1
            return self.answer(429, b"", {"Retry-After": "1"})
        if name.endswith("/away"):
            return self.answer(503, b"", {})
        path = folder / file
        if not path.is_file():
            return self.refuse(404, "EntryNotFound")
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        about = {"X-Repo-Commit": COMMIT, "ETag": f'"{digest[:40]}"'}
        if path.suffix not in STORED:
            return self.send_file(path, about)
        counted["redirects"] += 1
        port = self.server.server_address[1]
        linked = {"X-Linked-Etag": f'"{digest}"', "X-Linked-Size": str(path.stat().st_size)}
        place = f"http://localhost:{port}/stored/{name}/{file}"
        return self.answer(302, b"", {**about, **linked, "Location": place})

    def stored(self, file):
        path = self.root / file
        cut = "/flaky/" in file and self.path not in seen and self.command == "GET"
        if cut:
            seen.add(self.path)
            counted["cut"] += 1
        return self.send_file(path, {"ETag": '"stored"'}, cut)

    def send_file(self, path, headers, cut=False):
        data = path.read_bytes()
        asked = self.headers.get("Range", "")
        if asked.startswith("bytes=") and asked != "bytes=0-":
            counted["ranges"] += 1
            start = int(asked[6:].split("-")[0])
            headers = {**headers, "Content-Range": f"bytes {start}-{len(data) - 1}/{len(data)}"}
            return self.answer(206, data[start:], headers)
        return self.answer(200, data, headers, cut)

    def refuse(self, status, code):
        return self.answer(status, b'{"error": "refused"}', {"X-Error-Code": code, "X-Error-Message": code})

    def answer(self, status, body, headers, cut=False):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body[: len(body) // 2] if cut else body)
            self.close_connection = cut
        return None


if __name__ == "__main__":
    server = ThreadingHTTPServer(("", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_address[1], flush=True)
    sys.stdin.readline()
    print(json.dumps(counted), flush=True)
