"""A service, as a program uses it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .connection import Connection
from .error import Error
from .login import chosen_login

if TYPE_CHECKING:
    from .registry import Models
    from .run import Run
    from .runs import Runs
    from .sweep import Sweep


class Service:
    """What :func:`connect` returns: the operations of one service. ``connection`` calls those that have no method here."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection

    @property
    def url(self) -> str:
        """Address of the service."""
        return self.connection.url

    def request(self, method: str, path: str, **call: Any) -> Any:
        """Call any operation of the service's API: see :meth:`mps.connection.Connection.request`."""
        return self.connection.request(method, path, **call)

    def runs(
        self,
        project: str | None = None,
        filter: str | None = None,
        *,
        order: str | Sequence[str] | None = None,
        limit: int | None = None,
    ) -> Runs:
        """Return the runs of a project, or of all projects, newest first. Nothing is read before they are asked for.

        ``project`` is a name or id. ``filter`` is that of the service and of ``mps ls``, such as ``"metrics.acc > 0.9 and lr < 0.01"``.
        ``order`` is a metric, ``params.NAME``, ``duration``, ``cost``, another attribute, or ``best``; ``-NAME`` sorts in descending
        order; a list sorts by several. ``limit`` is the greatest number of runs.
        """
        from .runs import Runs

        return Runs(self.connection, project, filter, order, limit)

    def find(self, run_id: str) -> Run:
        """Return the run with this id. :raises Error: if there is none"""
        found = self.runs(filter=f"experiment_id = '{_id(run_id)}'", limit=1).first()
        if found is None:
            raise Error(f"There is no run {run_id}.", status=404)
        return found

    def run(
        self,
        command: str | os.PathLike[str] | Sequence[str] | None = None,
        *,
        params: Mapping[str, Any] | None = None,
        tags: Mapping[str, str] | None = None,
        project: str | None = None,
        folder: str | os.PathLike[str] | None = None,
        wait: bool = False,
        check: bool = True,
        **options: Any,
    ) -> Run:
        """Upload a folder, begin a training on the service, and return it. The command ``mps run`` packs and uploads it, which needs Node
        on this machine or the extra ``cli`` of this package.

        :param command: program with its arguments, as a text or a list of words: ``"train.py --epochs 5"``. Without it, that of
            ``mps.yaml``, the project's last command, or the folder's ``train.py``.
        :param params: values of the configuration by their paths, else flags of the command. A text stays a text.
        :param project: name or id; a new name creates a project. Without it, that of ``mps.yaml``, else the folder's name.
        :param folder: folder to send; by default the present one.
        :param wait: whether to wait until it has ended, with its log and its progress.
        :param check: whether a training that does not succeed is an error, if it is waited for.
        :param options: other flags of ``mps run``: ``gpus``, ``vcpus``, ``memory`` (MiB), ``nodes``, ``timeout`` (seconds), ``budget``
            (US$), ``dataset``, ``config``, ``name``, ``note``, ``stop_if`` and ``notify_if`` (a rule or a list of rules), ``root``,
            ``yes`` (send more than 100 MB).
        :raises Error: if the folder or an option is refused; nothing was begun then
        :raises mps.RunError: if it was waited for and did not succeed
        """
        from .run import Run
        from .start import command_words, option_words, set_words, tag_words

        words = [*option_words({"project": project, **options}), *set_words(params or {}), *tag_words(tags or {})]
        begun = Run(self.connection, self._begin("run", words, command_words(command), folder))
        return begun.wait(check=check) if wait else begun

    def sweep(
        self,
        file: str | os.PathLike[str] | None = None,
        *,
        params: Mapping[str, Any] | None = None,
        command: str | os.PathLike[str] | Sequence[str] | None = None,
        project: str | None = None,
        folder: str | os.PathLike[str] | None = None,
        wait: bool = True,
        check: bool = True,
        **options: Any,
    ) -> Sweep:
        """Upload a folder, try many settings of its training, and return the sweep: ``service.sweep("sweep.yaml").best.params``.

        :param file: file of the sweep below the folder; by default ``sweep.yaml``, unless ``params`` say what to vary.
        :param params: a range as a text, such as ``"1e-4..1e-1:log"``, a list of values, or one value for all trials, by name.
        :param wait: whether to wait until it has ended or paused.
        :param options: other flags of ``mps sweep``: ``trials``, ``parallel``, ``method``, ``metric``, ``goal``, ``repeats``, ``stop``,
            ``budget`` (US$), ``seed``, ``name``, and sizes as of :meth:`run`.
        :raises Error: if the folder, the file or an option is refused; and if it was waited for and is not complete, unless ``check`` is
            false
        """
        from .start import command_words, option_words, swept_words
        from .sweep import Sweep

        named = [] if file is None else [os.path.join(".", file)]
        words = [*option_words({"project": project, **options}), *swept_words(params or {}), *named]
        begun = Sweep(self.connection, self._begin("sweep", words, command_words(command), folder))
        return begun.wait(check=check) if wait else begun

    def _begin(self, verb: str, words: Sequence[str], command: Sequence[str], folder: str | os.PathLike[str] | None) -> Any:
        """Begin a job by the command, and return its record."""
        from .command import run_command

        own = [verb, "--detach", "--json"]
        return json.loads(run_command([*own, *words, *command], url=self.url, token=self.connection.token(), folder=folder))

    @property
    def models(self) -> Models:
        """The models of the service: ``for model in service.models``, ``service.models["digits"]``."""
        from .registry import Models

        return Models(self.connection)

    def infer(self, model: str, inputs: Mapping[str, Any] | None = None, *, version: str | None = None, **named: Any) -> dict[str, Any]:
        """Ask a served model, and return its outputs by name.

        Each input is an array of numpy, of anything that converts to one, or nested lists, with the shape that the model states; a batch
        of one may be left out. Outputs are arrays if numpy is in use, else nested lists. Texts are lists of ``str``. ``version`` is a
        version or an alias.

        :raises Error: for an input that the model does not have or take, and if it is not served
        """
        from .registry import infer

        return infer(self.connection, model, {**(inputs or {}), **named}, version)

    def __repr__(self) -> str:
        return f"<mps.Service {self.url}>"


def connect(url: str | None = None, token: str | None = None, *, timeout: float = 60.0) -> Service:
    """Return the service that the given address and token, ``MPS_URL`` and ``MPS_TOKEN``, a run of CI, the job that this
    program is, or the last ``mps login`` name, the first of these. It asks the service nothing.

    ``timeout`` is the number of seconds for which the service may send nothing.

    :raises Error: for a wrong address, and if nobody is signed in
    """
    login = chosen_login(url, token)
    return Service(Connection(login.url, login.token, job=login.job, timeout=timeout))


def _id(text: str) -> str:
    """Return an id. :raises Error: for a text that is none"""
    if not text.isalnum():
        raise Error(f'"{text}" is no id of a run.')
    return text
