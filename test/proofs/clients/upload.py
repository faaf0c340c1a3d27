"""What both Python clients send: the archive of the example, by the presigned URL of an answer."""

import hashlib
import io
import pathlib
import tarfile
import urllib.request

EXAMPLE = pathlib.Path(__file__).parent / "pretended"
CONFIG = (EXAMPLE / "train.yaml").read_bytes()


def archive():
    """The source archive, with its SHA-256."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        tar.add(EXAMPLE / "train.py", arcname="train.py")
    return packed.getvalue(), hashlib.sha256(packed.getvalue()).hexdigest()


def upload(url, method, headers, data):
    """Send bytes by a presigned URL with exactly its headers."""
    request = urllib.request.Request(url, data=data, method=method, headers=headers)
    with urllib.request.urlopen(request) as answer:
        assert answer.status == 200, answer.status
