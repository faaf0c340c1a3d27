from __future__ import annotations

import contextlib
import gzip
import hashlib
import io
import json
import os
import sys
import tarfile
from pathlib import Path
from unittest import mock

import mps
from mps import command

from .test_connection import WithHome
from .web_server import Answer, Request, WebServer


def archive(files: dict[str, str], link: str | None = None) -> bytes:
    """Return an archive as npm's, with these files and perhaps a link."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for path, text in files.items():
            entry = tarfile.TarInfo(path)
            entry.size = len(text)
            tar.addfile(entry, io.BytesIO(text.encode()))
        if link:
            entry = tarfile.TarInfo(link)
            entry.type, entry.linkname = tarfile.SYMTYPE, "/etc"
            tar.addfile(entry)
    return gzip.compress(packed.getvalue(), mtime=0)


class Fetched(WithHome):
    """The program is fetched from a service whose archive a test chooses."""

    def setUp(self) -> None:
        super().setUp()
        self.archive = archive({"package/mps.mjs": "one", "package/python/read.py": ""})
        self.service = self.enter(WebServer(self.answer))
        self.enter(mock.patch.object(command, "command_digest", hashlib.sha256(self.archive).hexdigest()))
        self.enter(mock.patch.object(command, "_node", lambda: "node"))
        self.origin = self.enter(mock.patch.object(command, "_origin", return_value=self.service.url))

    def answer(self, _: Request) -> Answer:
        return 200, self.archive, {}

    def program(self, url: str | None = None) -> str:
        return Path(command.command_line(url)[1]).read_text()

    def test_it_is_fetched_once_and_without_a_token(self) -> None:
        os.environ["MPS_TOKEN"] = "secret"

        texts = [self.program(), self.program()]

        self.assertEqual(texts, ["one", "one"])
        self.assertEqual([one.path for one in self.service.requests], ["/cli/mps.tgz"])
        self.assertNotIn("Authorization", self.service.requests[0].headers)
        self.assertTrue(Path(self.home, ".cache/mps/command", command.command_digest, "python/read.py").exists())

    def test_a_kept_program_that_a_power_cut_emptied_is_fetched_again(self) -> None:
        self.program()
        Path(command.command_line()[1]).write_text("")

        self.assertEqual(self.program(), "one")

    def test_the_service_of_the_wheel_may_be_newer_and_another_one_may_not(self) -> None:
        self.archive = archive({"package/mps.mjs": "two"})
        said = self.enter(contextlib.redirect_stderr(io.StringIO()))

        self.origin.return_value = None
        with self.assertRaisesRegex(mps.Error, "has the command of another version"):
            self.program(self.service.url)
        self.origin.return_value = self.service.url
        texts = [self.program(), self.program("https://elsewhere.test")]
        self.origin.return_value = "http://127.0.0.1:9"
        Path(command.command_line()[1]).unlink()
        with self.assertRaisesRegex(mps.Error, "has the command of another version"):
            self.program(self.service.url)

        self.assertEqual(texts, ["two", "two"])
        self.assertEqual(said.getvalue().count("another version of the command"), 1)

    def test_no_archive_writes_outside_of_its_folder(self) -> None:
        whole = {"package/mps.mjs": "one"}
        for packed in (
            archive({**whole, "package/../../../../.profile": "bad"}),
            archive({**whole, "/tmp/bad": "bad"}),
            archive(whole, link="package/python"),
            archive({"package/other.mjs": ""}),
            self.archive[:60],
            b"<html>",
        ):
            self.archive = packed
            with contextlib.redirect_stderr(io.StringIO()), self.assertRaisesRegex(mps.Error, "archive of the command is damaged"):
                self.program()

        self.assertEqual([str(path) for path in Path(self.home, ".cache/mps/command").iterdir()], [])
        self.assertEqual([path.name for path in Path(self.home).iterdir()], [".cache"])

    def test_the_package_of_a_job_says_that_it_has_no_command(self) -> None:
        with mock.patch.object(command, "command_digest", ""), mock.patch.object(command, "__file__", f"{self.home}/mps/command.py"):
            with self.assertRaisesRegex(mps.Error, "The package that a job has begins no run"):
                self.program()

    def test_a_service_that_is_away_and_a_folder_that_is_full_are_said_in_a_sentence(self) -> None:
        Path(self.home, "file").write_text("")
        with mock.patch.dict(os.environ, {"XDG_CACHE_HOME": f"{self.home}/file"}):
            with self.assertRaisesRegex(mps.Error, "cannot be kept in .*XDG_CACHE_HOME"):
                self.program()
        self.origin.return_value = "http://127.0.0.1:9"
        with self.assertRaisesRegex(mps.Error, "does not answer"):
            self.program()
        self.origin.return_value = "http://mps.example.test"
        with self.assertRaisesRegex(mps.Error, "clear text"):
            self.program()


class Started(WithHome):
    """A program of Python stands in for Node."""

    def run_python(self, program: str, *words: str) -> str:
        with mock.patch.object(command, "command_line", lambda url: [sys.executable, "-c", program]):
            return command.run_command(words, url="http://127.0.0.1:9", token="secret", folder=self.home)

    def test_it_gets_its_words_as_they_are_and_the_login_by_variables(self) -> None:
        hostile = ["-S", "name=$(touch bad) `touch bad` \"'\n;&|", "--", "ü"]

        seen = json.loads(
            self.run_python("import json, os, sys; print(json.dumps([sys.argv[1:], os.environ['MPS_TOKEN'], os.getcwd()]))", *hostile)
        )

        self.assertEqual(seen, [hostile, "secret", os.path.realpath(self.home)])
        self.assertEqual(list(Path(self.home).iterdir()), [])

    def test_its_messages_appear_and_a_failure_is_its_message(self) -> None:
        program = (
            "import sys; print('x' * 200_000); print('source  4 files (1.5 s)\\nuploading', file=sys.stderr); sys.exit(int(sys.argv[1]))"
        )

        with contextlib.redirect_stderr(io.StringIO()) as said:
            output = self.run_python(program, "0")
            with self.assertRaisesRegex(mps.Error, "^uploading$"):
                self.run_python(program, "2")

        self.assertEqual(len(output), 200_001)
        self.assertEqual(said.getvalue(), "source  4 files (1.5 s)\nuploading\n" * 2)

    def test_without_a_node_it_says_what_to_install(self) -> None:
        os.environ["PATH"] = self.home
        with mock.patch("importlib.util.find_spec", lambda name: None):
            with self.assertRaisesRegex(mps.Error, r'There is no Node here.*pip install "model-project-service\[cli\] @ https'):
                command.command_line()
            Path(self.home, "node").write_text("#!/bin/sh\necho v18.20.1\n")
            Path(self.home, "node").chmod(0o755)
            with self.assertRaisesRegex(mps.Error, "This Node is too old: mps needs 20 or newer"):
                command.command_line()
