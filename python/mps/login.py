"""Which service a program uses, and with which token."""

from __future__ import annotations

import json
import os
import stat
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, Union

from .error import Error

Token = Union[str, Callable[[], str], None]


class Login(NamedTuple):
    """An address with its token. ``job`` says that it is the server of the job that this program is."""

    url: str
    token: Token
    job: bool = False


def chosen_login(url: str | None = None, token: str | None = None) -> Login:
    """Return the given login, else that of ``MPS_URL`` and ``MPS_TOKEN``, of CI, of this job, or of the last ``mps login``.

    :raises Error: for a wrong address, and if nobody is signed in
    """
    env = os.environ
    wanted = service_url(url or env.get("MPS_URL") or "") if url or env.get("MPS_URL") else None
    # Variables that come from files end with a line feed.
    token = (token or env.get("MPS_TOKEN") or "").strip() or None
    if wanted and not token:
        identity = _identity(wanted, env)
        if identity:
            return Login(wanted, _CiToken(wanted, identity, env.get("MPS_TRUST")))
    if not wanted and not token:
        own = job_login(env)
        if own:
            return own
    saved = [] if wanted and token else _saved_logins()
    found = next((one for one in saved if wanted in (None, one.url)), None)
    address = wanted or (found.url if found else _local)
    token = token or (str(found.token) if found else None)
    if token is None:
        raise Error(f'You are not signed in to {address}: run "mps login {address}", or set MPS_URL and MPS_TOKEN.', status=401)
    return Login(address, token)


# Address of `npm start`.
_local = "http://127.0.0.1:3000"


def job_login(env: Mapping[str, str] = os.environ) -> Login | None:
    """Return the server of the job that this program is. It has MLflow's API alone, for the experiment of the job."""
    address, token = env.get("MLFLOW_TRACKING_URI", ""), env.get("MLFLOW_TRACKING_TOKEN")
    if not in_job(env) or not token or not address.startswith("http://127.0.0.1:"):
        return None
    return Login(address, token, job=True)


def in_job(env: Mapping[str, str] = os.environ) -> bool:
    """Whether the service runs this program as a training."""
    return bool(env.get("EXPERIMENT_ID") and env.get("PROJECT_ID") and env.get("METRICS_FILE"))


def service_url(text: str) -> str:
    """Return an address without its last slashes. :raises Error: if it is none, or would send a token in clear text"""
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(text)
        host = parts.hostname or ""
        _ = parts.port
    except ValueError:
        host = ""
    if not host or parts.scheme not in ("http", "https"):
        raise Error(f'"{text}" is not a service URL: it must start with https:// or http://.')
    if parts.username or parts.password:
        raise Error("The service URL must not contain a user name or password.")
    if parts.scheme == "http" and not is_loopback(host):
        raise Error(f"http://{parts.netloc} would send your token in clear text: use https://.")
    return f"{parts.scheme}://{parts.netloc.lower()}{parts.path}".rstrip("/")


def is_loopback(host: str) -> bool:
    """Whether a host name is this machine."""
    return host in ("localhost", "::1") or (host.startswith("127.") and host.replace(".", "").isdigit())


def home() -> Path | None:
    """Return the home of the person; None where the machine knows none, as in a container with a user of its own."""
    found = os.path.expanduser("~")
    return None if found.startswith("~") else Path(found)


def _saved_logins() -> list[Login]:
    """Read the logins of ``mps login``, newest first."""
    env = os.environ
    own = home()
    settings = env.get("XDG_CONFIG_HOME") or (own and own / ".config")
    if not settings:
        return []
    file = Path(settings, "mps", "logins.json")
    try:
        text = file.read_text("utf-8")
        mode = file.stat().st_mode
    except FileNotFoundError:
        return []
    except OSError as error:
        raise Error(f"{file} cannot be read: {error.strerror}.") from error
    if os.name == "posix" and mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise Error(f"Other users can read your tokens. Run: chmod 600 {file}")
    try:
        return [Login(str(one["url"]), str(one["token"])) for one in json.loads(text)]
    except (ValueError, TypeError, KeyError) as error:
        raise Error(f'{file} is damaged. Remove it, then sign in with "mps login".') from error


def _identity(url: str, env: Mapping[str, str]) -> Callable[[], str] | None:
    """Return a function that gets the identity token of this run of CI: of GitLab, or of a job of GitHub Actions."""
    given = env.get("MPS_ID_TOKEN")
    if given:
        return lambda: given
    address, secret = env.get("ACTIONS_ID_TOKEN_REQUEST_URL"), env.get("ACTIONS_ID_TOKEN_REQUEST_TOKEN")
    if not address or not secret:
        return None

    def of_github() -> str:
        from urllib.parse import urlencode

        from .connection import exchange

        link = f"{address}{'&' if '?' in address else '?'}{urlencode({'audience': url})}"
        headers = {"Authorization": f"Bearer {secret}", "Accept": "application/json"}
        try:
            with exchange("GET", link, headers) as answer:
                return str(json.loads(answer.read())["value"])
        except (Error, OSError, ValueError, KeyError, TypeError) as error:
            raise Error(f"GitHub gives no identity token for this job: {error}", status=401) from error

    return of_github


class _CiToken:
    """The token of a run of CI. It signs in again before the last token ends."""

    # Seconds before its end in which a token is replaced.
    _spare = 300.0

    def __init__(self, url: str, identity: Callable[[], str], trust: str | None) -> None:
        self._url, self._identity, self._trust = url, identity, trust
        self._lock = threading.Lock()
        self._token, self._end = "", 0.0

    def __call__(self) -> str:
        with self._lock:
            if time.time() > self._end - self._spare:
                try:
                    self._sign_in()
                except Error:
                    # The token may be valid for a while, and then the service says what is wrong.
                    if time.time() > self._end:
                        raise
            return self._token

    def _sign_in(self) -> None:
        from .connection import Connection

        sent: dict[str, Any] = {
            "grant_type": "urn:ietf:params:oauth:grant-type:token-exchange",
            "subject_token_type": "urn:ietf:params:oauth:token-type:id_token",
            "subject_token": self._identity(),
            **({"trust_id": self._trust} if self._trust else {}),
        }
        answer = Connection(self._url).request("POST", "/auth/oidc/exchange", json=sent)
        self._token, self._end = str(answer["access_token"]), time.time() + float(answer["expires_in"])
