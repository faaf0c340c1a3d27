"""What there is to be found: without it most generated ids lead to 404, and little is tested."""

import io
import json
import tarfile
import time
from base64 import b64encode
from hashlib import sha256

import requests

script = b"""import json, os
with open(os.path.join(os.environ["OUTPUT_DIR"], "model.txt"), "w") as model:
    model.write("the trained model")
"""
environment = {"env_type": "system", "entry_point_command": "python3 train.py {config}", "dependencies": "none"}


def archive() -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        member = tarfile.TarInfo("train.py")
        member.size = len(script)
        tar.addfile(member, io.BytesIO(script))
    return buffer.getvalue()


class Client:
    def __init__(self, url: str, password: str):
        form = {"grant_type": "password", "username": "admin", "password": password}
        self.url, self.session = url, requests.Session()
        self.token = self("POST", "/auth/token", data=form)["access_token"]
        self.session.headers["Authorization"] = f"Bearer {self.token}"

    def __call__(self, method: str, path: str, **options):
        answer = self.session.request(method, self.url + path, timeout=60, **options)
        if not answer.ok:
            raise RuntimeError(f"{method} {path}: {answer.status_code} {answer.text}")
        return answer.json()


def upload(client: Client, path: str, data: bytes) -> None:
    digest = sha256(data)
    query = {"sha256": digest.hexdigest(), "size": len(data)}
    ticket = client("POST", path, params=query)["upload"]
    headers = {"x-amz-checksum-sha256": b64encode(digest.digest()).decode()}
    requests.put(ticket["url"], data=data, headers=headers, timeout=60).raise_for_status()
    client("PUT", path, params={"sha256": query["sha256"]})


def make_project(client: Client) -> str:
    texts = {f"project-{name}": name for name in ("name", "description", "type", "task")}
    return client("POST", "/projects/", params=texts)["project_id"]


def make_all(client: Client) -> dict[str, list[str]]:
    """Makes records of each kind; returns their ids by dictionary. Those named `spare` are there to be deleted."""
    project_id = make_project(client)
    path = f"/projects/{project_id}"
    for name, text in (("train.yaml", "epochs: 3\nmodel: ${name}\nname: a\n"), ("spare.json", '{"a": [1]}')):
        client("PUT", f"{path}/configs/{name}", data=text, headers={"Content-Type": "application/octet-stream"})
    data = archive()
    upload(client, f"{path}/source", data)
    upload(client, f"{path}/datasets/digits", data)
    client("PUT", f"{path}/environment", params=environment)
    experiments = [client("POST", f"{path}/train", params={"config": "train.yaml"}) for _ in range(2)]
    ids = [experiment["experiment_id"] for experiment in experiments]
    deadline = time.monotonic() + 120
    while any(client("GET", f"{path}/experiments/{each}")["status"] != "SUCCEEDED" for each in ids):
        if time.monotonic() > deadline:
            raise RuntimeError(json.dumps(client("GET", f"{path}/experiments")))
        time.sleep(0.5)
    users = []
    for name in ("grace", "spare-1", "spare-2", "spare-3"):
        form = {"username": name, "account_type": "developer", "password": "a long sentence nobody guesses"}
        users.append(client("POST", "/users/", data=form))
    tokens = [client("POST", "/auth/tokens", json={"name": f"spare {n}"})["token_id"] for n in range(20)]
    return {
        "project_id": [project_id],
        "spare_project_id": [make_project(client) for _ in range(20)],
        "config_id": ["train.yaml"],
        "spare_config_id": ["spare.json"],
        "dataset": ["digits"],
        "experiment_id": ids[:1],
        "spare_experiment_id": ids[1:],
        "path": ["model.txt"],
        "username": ["grace"],
        "spare_username": ["spare-1", "spare-2", "spare-3"],
        "user_id": [users[0]["user_id"]],
        "token_id": tokens,
        "sha256": [sha256(data).hexdigest()],
    }
