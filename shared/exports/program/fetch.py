"""Fetches a model from the Hub: one revision, only what is needed, three tries, bounded waits and bytes."""

from __future__ import annotations

import errno
import os
import resource
import shutil
import time
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Callable, Iterator
from urllib.parse import urlsplit

from refusal import Refusal, reason_of
from repository import LARGEST_ONNX

TRIES = 3
LONGEST_WAIT = 60.0
REFUSED = (429, 500, 502, 503, 504)
# Bytes that files may have besides the one that is fetched: the library notes what it has fetched.
OTHER_FILES = 2**16


class Hub:
    """One repository at one revision."""

    def __init__(self, name: str, revision: str, folder: Path) -> None:
        self.name, self.revision, self.folder = name, revision, folder
        self.token = os.environ.get("HF_TOKEN") or None
        # The library's other way, Xet, has tries and waits of its own, and sends the token where an answer says.
        os.environ["HF_HUB_DISABLE_XET"] = "1"
        _limit_requests()

    def describe(self) -> dict[str, Any]:
        """Return the files with their sizes, and the tag of the task. @throws Refusal"""
        import huggingface_hub

        api = huggingface_hub.HfApi(token=self.token or False)
        info = self._ask(lambda: api.model_info(self.name, revision=self.revision, files_metadata=True, timeout=30))
        sizes = {one.rfilename: one.size or 0 for one in info.siblings or []}
        return {"sizes": {name: size for name, size in sizes.items() if _is_safe(name)}, "tag": info.pipeline_tag, "commit": info.sha}

    def fetch(self, names: list[str], sizes: dict[str, int]) -> None:
        """Fetch files. @throws Refusal, `disk-full` before the first byte if the disk cannot hold them"""
        import huggingface_hub

        needed = sum(sizes.get(name, 0) for name in names)
        free = shutil.disk_usage(self.folder).free
        # The ONNX file is written beside the weights, and once more as it is checked.
        if needed * 3 > free:
            message = f"The files have {needed / 1e6:,.0f} MB and the export needs three times as much; the disk has {free / 1e6:,.0f} MB."
            raise Refusal("disk-full", message, 1)
        for name in names:
            size = sizes.get(name) or LARGEST_ONNX
            try:
                with largest_file(size + OTHER_FILES):
                    self._ask(
                        lambda name=name: huggingface_hub.hf_hub_download(
                            self.name, name, revision=self.revision, local_dir=self.folder, token=self.token or False
                        )
                    )
            except OSError as error:
                if error.errno == errno.EFBIG:
                    raise Refusal("bad-file", f"The Hub sends more of {name[:200]} than the {size:,} bytes that it states.") from None
                if error.errno is None:
                    message = f"What the Hub sends of {name[:200]} is not what it states ({reason_of(error, 150)}). Try again later."
                    raise Refusal("hub-away", message, 1) from None
                raise

    def _ask(self, call: Callable[[], Any]) -> Any:
        import httpx2
        from huggingface_hub import errors

        page = f"{os.environ.get('HF_ENDPOINT') or 'https://huggingface.co'}/{self.name}"
        try:
            return call()
        except httpx2.RequestError as error:
            raise Refusal("hub-away", f"The Hub breaks off its answers ({type(error).__name__}). Try again later.", 1) from None
        except errors.GatedRepoError:
            if self.token is None:
                message = f"The model is gated. Accept its licence at {page}, and give the project a token of your account (HF_TOKEN)."
            else:
                message = f"The model is gated, and the account of your token has no access. Accept its licence at {page}."
            raise Refusal("gated", message) from None
        except errors.RevisionNotFoundError:
            raise Refusal("revision-not-found", f"{self.name} has no revision {self.revision}.") from None
        except errors.RepositoryNotFoundError:
            hint = "with this token" if self.token else "without a token; if it is private, give the project one (HF_TOKEN)"
            raise Refusal("not-found", f"The Hub has no model {self.name} {hint}.") from None
        except errors.LocalEntryNotFoundError:
            message = f"The Hub does not describe the files of {self.name}. If it has moved, give its new address (HF_ENDPOINT)."
            raise Refusal("hub-away", message, 1) from None
        except errors.EntryNotFoundError:
            raise Refusal("not-found", f"A file of {self.name} is gone from the Hub.") from None
        except errors.HfHubHTTPError as error:
            status = error.response.status_code if error.response is not None else 0
            if status in (401, 403):
                raise Refusal("gated", f"The Hub refuses {self.name} (status {status}). Its page: {page}.") from None
            raise Refusal("hub-away", f"The Hub answers with status {status}.", 1) from None
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            message = f"What answers is no Hub ({reason_of(error, 100)}). Is its address right (HF_ENDPOINT)?"
            raise Refusal("hub-away", message, 1) from None


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """Let no file grow beyond a size: a body may be longer than was said, or have no end. @throws OSError EFBIG"""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size if hard == resource.RLIM_INFINITY else min(size, hard), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def gets_token(address: str, hub: str) -> bool:
    """Whether a request may have the token of the Hub: at its own address, also if that has moved to HTTPS."""
    asked, own = (urlsplit(one) for one in (address, hub))
    ports = {"http": 80, "https": 443}
    to, of = ((one.scheme, one.port or ports.get(one.scheme)) for one in (asked, own))
    return asked.hostname == own.hostname and (to == of or (to, of) == (("https", 443), ("http", 80)))


def _is_safe(name: str) -> bool:
    """A name that stays below the folder."""
    return not name.startswith("/") and "\\" not in name and not any(part in ("", ".", "..") for part in name.split("/"))


def check_size(names: list[str], sizes: dict[str, int]) -> None:
    """Refuse weights that cannot become one ONNX file. @throws Refusal `too-large`"""
    total = sum(sizes.get(name, 0) for name in names)
    if total > LARGEST_ONNX:
        held = "One ONNX file holds at most 2 GB: encoders and classifiers, no large language models."
        message = f"The weights have {total / 1e9:.1f} GB. {held}"
        raise Refusal("too-large", message)


def _limit_requests() -> None:
    """
    Let every request have three tries with bounded waits, and the token at the Hub alone. The library would wait as long as the
    server says, and send the token of another Hub to huggingface.co.
    """
    import httpx2
    from huggingface_hub.utils import _http, set_client_factory

    class Client(httpx2.Client):
        def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
            fault = ""
            for attempt in range(TRIES):
                wait = 2.0**attempt
                try:
                    response = super().send(request, **options)
                except httpx2.TransportError as error:
                    fault = f"cannot be reached ({type(error).__name__})"
                else:
                    if response.status_code not in REFUSED:
                        return response
                    limits = "limits requests" if response.status_code == 429 else "is away"
                    fault = f"{limits} (status {response.status_code})"
                    stated = response.headers.get("Retry-After", "")
                    wait = float(stated) if stated.isdecimal() and len(stated) < 9 else wait
                    response.close()
                if attempt + 1 < TRIES:
                    time.sleep(min(wait, LONGEST_WAIT))
            raise Refusal("hub-away", f"The Hub {fault}, {TRIES} times. Try again later.", 1)

    hub = os.environ.get("HF_ENDPOINT") or "https://huggingface.co"

    def keep_token(request: httpx2.Request) -> None:
        # A redirect is a request, too.
        if not gets_token(str(request.url), hub):
            request.headers.pop("Authorization", None)

    def client() -> httpx2.Client:
        hooks = {"request": [keep_token, _http.hf_request_event_hook]}
        return Client(event_hooks=hooks, follow_redirects=True, timeout=httpx2.Timeout(30))

    set_client_factory(client)
