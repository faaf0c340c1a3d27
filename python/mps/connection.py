"""Requests to the service."""

from __future__ import annotations

import http.client
import json as jsons
import random
import re
import sys
import threading
import time
import uuid
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, BinaryIO, Union, cast
from urllib.parse import quote, urlencode, urlsplit

from .error import Error
from .login import Token, is_loopback
from .version import version

if TYPE_CHECKING:
    import urllib.request

Query = Mapping[str, Any]
Body = Union[bytes, BinaryIO]


class Connection:
    """Calls a service with a token. Several threads may use it.

    ``timeout`` is the number of seconds for which the service may send nothing. Proxies are those of ``HTTPS_PROXY`` and
    ``NO_PROXY``; certificates those of ``SSL_CERT_FILE``.
    """

    def __init__(self, url: str, token: Token = None, *, job: bool = False, timeout: float = 60.0, patience: float = 20.0) -> None:
        self.url = url.rstrip("/")
        self.job = job
        self._token = token
        self._timeout = timeout
        # A refused connection on this machine means that nothing runs.
        self._attempts = 2 if is_loopback(urlsplit(url).hostname or "") else 5
        self._patience = patience
        self._greeted = job or version == "0.0.0"
        self._lock = threading.Lock()

    def request(self, method: str, path: str, **call: Any) -> Any:
        """Call an operation, such as ``request("GET", "/projects/", query={"limit": 10})``, and return its JSON.

        Takes the arguments of :meth:`open`. An answer without a body is ``None``.

        :raises Error: if the service refuses, does not answer, or another program answers
        """
        with self.open(method, path, **call) as answer:
            return self._json(answer, method, path)

    def rows(self, path: str, *, query: Query | None = None, to_empty: bool = False) -> Iterator[Any]:
        """Yield every row of a list, page after page. ``to_empty`` ends at an empty page: what grows always has a next one.

        :raises Error: as :meth:`request` does
        """
        following: Query | str | None = query
        while True:
            with self.open("GET", path, query=following) as answer:
                page = self._json(answer, "GET", path)
                links = answer.headers.get("Link", "")
            if not isinstance(page, list):
                raise Error(f"{self.url} returned no list at {path}.")
            yield from page
            found = re.search(r'<[^>?]*\?([^>]*)>;\s*rel="?next', links)
            if not found or (to_empty and not page):
                return
            following = found.group(1)

    def open(
        self,
        method: str,
        path: str,
        *,
        query: Query | str | None = None,
        json: object = None,
        body: Body | None = None,
        headers: Mapping[str, str] | None = None,
        repeatable: bool | None = None,
        timeout: float | None = None,
    ) -> http.client.HTTPResponse:
        """Call an operation and return the answer with its body unread, to be closed. Downloads follow their redirect.

        A call that may have taken effect is repeated only if that changes nothing: every method but POST, and a POST
        outside ``/auth/``, whose ``Idempotency-Key`` the service knows. ``repeatable`` overrides that.

        :raises Error: as :meth:`request` does
        """
        address = self.url + quote(path, safe="/:@!$&'()*+,;=~%")
        search = query if isinstance(query, str) else query_text(query or {})
        sent = {"Accept": "application/json", "User-Agent": f"mps-python/{version}", **(headers or {})}
        if json is not None:
            body, sent["Content-Type"] = jsons.dumps(json).encode(), "application/json"
        elif body is not None:
            sent.setdefault("Content-Type", "application/octet-stream")
        keyed = method == "POST" and not path.startswith("/auth/")
        if keyed:
            sent.setdefault("Idempotency-Key", str(uuid.uuid4()))
        if repeatable is None:
            repeatable = method != "POST" or keyed
        answer = self._repeated(method, f"{address}?{search}" if search else address, sent, body, repeatable, timeout)
        self._greet()
        return answer

    def token(self) -> str | None:
        """Return the token of the next request. That of CI is renewed before it ends."""
        return self._token() if callable(self._token) else self._token

    def mlflow(self, method: str, path: str, **call: Any) -> Any:
        """Call an operation of MLflow's API, such as ``mlflow("GET", "mlflow/runs/get", query=…)``. A job has this API alone."""
        return self.request(method, f"{'' if self.job else '/mlflow'}/api/2.0/{path}", **call)

    def _repeated(
        self, method: str, address: str, headers: dict[str, str], body: Body | None, repeatable: bool, timeout: float | None
    ) -> http.client.HTTPResponse:
        left, attempt = self._patience, 0
        while True:
            attempt += 1
            token = self.token()
            authorization = {} if token is None else {"Authorization": f"Bearer {token}"}
            try:
                return exchange(method, address, {**headers, **authorization}, body, timeout or self._timeout)
            except Refusal as refusal:
                again = refusal.status == 429 or (repeatable and refusal.status in (502, 503, 504))
                after, error = refusal.after, Error(str(refusal), status=refusal.status, kind=refusal.kind)
            except OSError as fault:
                again, after = repeatable, None
                error = Error(f"{self.url} does not answer: {reason(fault)}.")
                error.__cause__ = fault
            pause = min(8.0, 0.2 * 2 ** (attempt - 1)) * (0.75 + random.random() / 2) if after is None else after
            if not again or attempt >= self._attempts or pause > left:
                raise error
            left -= pause
            time.sleep(pause)

    def _json(self, answer: http.client.HTTPResponse, method: str, path: str) -> Any:
        try:
            text = answer.read()
            return jsons.loads(text) if text else None
        except ValueError as fault:
            raise Error(f"{self.url} does not answer like the service: {method} {path} returned no JSON.") from fault
        except (OSError, http.client.HTTPException) as fault:
            raise Error(f"{self.url} broke its answer off: {reason(fault)}.") from fault

    def _greet(self) -> None:
        """Compare versions once, after the first answer."""
        with self._lock:
            if self._greeted:
                return
            self._greeted = True
        try:
            with exchange("GET", f"{self.url}/", {"Accept": "application/json"}, timeout=5.0) as answer:
                # A version of Python has no dash before its pre-release.
                theirs = re.sub(r"-(a|b|rc)[a-z]*\.?(\d+)$", r"\1\2", str(jsons.loads(answer.read())["version"]))
        except (OSError, Error, ValueError, TypeError, KeyError, http.client.HTTPException):
            return
        if theirs != version:
            print(
                f"mps: this package is {version}, its service {theirs}; {self.url} shows the line that installs its own.",
                file=sys.stderr,
            )


class Refusal(Error):
    """An answer with an error. ``after`` is the number of seconds of its ``Retry-After``."""

    after: float | None = None


def exchange(
    method: str, address: str, headers: Mapping[str, str], body: Body | None = None, timeout: float = 60.0
) -> http.client.HTTPResponse:
    """Send one request and return its answer, whose body is unread.

    :raises Refusal: for an answer with an error
    :raises Error: for a header that cannot be sent
    :raises OSError: if no answer comes
    """
    import urllib.error
    import urllib.request

    # The library's own fault would show the token.
    wrong = [name for name, value in headers.items() if not (value.isascii() and value.isprintable())]
    if wrong:
        raise Error(f"{', '.join(wrong)} cannot be sent: a token is one line of ASCII characters.")
    sent = dict(headers)
    if body is not None and not isinstance(body, bytes):
        sent["Content-Length"] = str(body.seek(0, 2))
        body.seek(0)
    request = urllib.request.Request(address, data=body, headers=sent, method=method)
    try:
        return cast(http.client.HTTPResponse, _opener(address).open(request, timeout=timeout))
    except urllib.error.HTTPError as answer:
        with answer:
            raise _refusal(answer) from None
    except http.client.HTTPException as fault:
        raise ConnectionError(reason(fault)) from fault


def _refusal(answer: urllib.error.HTTPError) -> Refusal:
    """Read a problem document, or an error of MLflow's API."""
    try:
        read = jsons.loads(answer.read())
        document: dict[str, Any] = read if isinstance(read, dict) else {}
    except (ValueError, OSError, http.client.HTTPException):
        document = {}
    text = str(document.get("detail") or document.get("message") or "")
    if answer.code == 401:
        text = f'{text} Run "mps login", or set MPS_TOKEN.'.strip()
    kind = str(document.get("type") or "").rpartition("#problem-")[2] or str(document.get("error_code") or "")
    refusal = Refusal(text or f"{urlsplit(answer.url).netloc} answers with HTTP status {answer.code}.", status=answer.code, kind=kind)
    after = answer.headers.get("Retry-After", "")
    refusal.after = float(after) if after.isdigit() else None
    return refusal


_openers: dict[bool, urllib.request.OpenerDirector] = {}


def _opener(address: str) -> urllib.request.OpenerDirector:
    """Return an opener that sends a token to nobody but the service, and reaches this machine without a proxy."""
    import urllib.request

    local = is_loopback(urlsplit(address).hostname or "")
    known = _openers.get(local)
    if known:
        return known

    class Redirect(urllib.request.HTTPRedirectHandler):
        def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
            """Follow downloads alone. A redirect of another request is an error, with its status."""
            if req.get_method() not in ("GET", "HEAD"):
                return None
            # The storage of a service on this machine is another port of it; signed addresses need no token.
            return urllib.request.Request(newurl, method=req.get_method())

    proxies = [urllib.request.ProxyHandler({})] if local else []
    _openers[local] = urllib.request.build_opener(Redirect, *proxies)
    return _openers[local]


def query_text(query: Query) -> str:
    """Return a query without the fields that are ``None``. A list repeats its field."""
    fields: list[tuple[str, str]] = []
    for name, value in query.items():
        for one in value if isinstance(value, (list, tuple)) else [value]:
            if one is not None:
                fields.append((name, str(one).lower() if isinstance(one, bool) else str(one)))
    return urlencode(fields)


def reason(fault: BaseException) -> str:
    """Return what an exception of a connection says, without its class."""
    inner = getattr(fault, "reason", fault)
    text = getattr(inner, "strerror", None) or str(inner) or type(inner).__name__
    return "no answer in time" if isinstance(inner, TimeoutError) else str(text).rstrip(".")
