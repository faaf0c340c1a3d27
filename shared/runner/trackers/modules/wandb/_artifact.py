"""Artifacts, whose files are kept below wandb/artifacts."""
import hashlib
import os
import shutil
import tempfile

from mps_recorder import Media, Unknown, does_nothing

from ._errors import CommError
from ._media import as_path
from ._state import says

# Artifacts that this program logged, by name: use_artifact finds these.
logged = {}


class Artifact:
    def __init__(self, name, type=None, description=None, metadata=None, incremental=False, use_as=None):
        self.name, self.type = str(name), type
        self.description, self.metadata = description, metadata or {}
        self.aliases, self.tags = [], []
        self.version = "v0"
        self.ttl = None
        self._files = {}
        self._staged = None
        self._folder = None

    def _stage(self, name):
        """Where a file waits until the artifact is logged."""
        if self._staged is None:
            self._staged = tempfile.mkdtemp()
        path = os.path.join(self._staged, os.path.normpath(name).lstrip("/."))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        self._files[name] = path
        return path

    def add_file(self, local_path, name=None, is_tmp=False, skip_cache=False, policy="mutable", overwrite=False):
        path = as_path(local_path)
        if not os.path.isfile(path):
            raise ValueError("Path is not a file: %r" % path)
        # The program may change or remove its file at once.
        shutil.copyfile(path, self._stage(name or os.path.basename(path)))

    def add_dir(self, local_path, name=None, skip_cache=False, policy="mutable", merge=True):
        top = as_path(local_path)
        if not os.path.isdir(top):
            raise ValueError("Path is not a directory: %r" % top)
        for folder, _, names in os.walk(top):
            for one in names:
                path = os.path.join(folder, one)
                self.add_file(path, os.path.join(name or "", os.path.relpath(path, top)))

    def add(self, obj, name, overwrite=False):
        if not isinstance(obj, Media):
            raise ValueError("Can't add obj of type %s to artifact" % type(obj).__name__)
        path = self._stage(name)
        obj.save(path, says)
        del self._files[name]
        folder = os.path.dirname(path)
        for one in os.listdir(folder):
            if one.startswith(os.path.basename(path)):
                inside = os.path.join(os.path.dirname(name), one)
                self._files[inside] = os.path.join(folder, one)

    def new_file(self, name, mode="x", encoding=None):
        return open(self._stage(name), mode.replace("x", "w"), encoding=encoding)

    add_reference = staticmethod(does_nothing("Artifact.add_reference", says, why="keeps no file here"))
    get = staticmethod(does_nothing("Artifact.get", says, why="finds no media here: use get_path"))

    def remove(self, item):
        self._files.pop(as_path(item), None)

    def _keep(self, run):
        name = self.name.split(":")[0]
        former = logged.get(name)
        if former is not None and former is not self:
            self.version = "v%d" % (int(former.version[1:]) + 1)
            says("the artifact %s is kept as its last version" % name)
        inside = os.path.join("artifacts", name.replace("/", "_"))
        for file, path in self._files.items():
            self._files[file] = run._recorder.file(path, os.path.join(inside, file), move=True)
        self._folder = os.path.join(run._recorder.folder, inside)
        logged[name] = self

    def wait(self, timeout=None):
        return self

    def save(self, project=None, settings=None):
        from . import _state
        if _state.run is None:
            says("Artifact.save before init does nothing")
        else:
            _state.run.log_artifact(self)

    def finalize(self):
        pass

    def is_draft(self):
        return self._folder is None

    def download(self, root=None, *args, **others):
        if root is None:
            return self._folder or self._staged
        for file, path in self._files.items():
            target = os.path.join(root, file)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copyfile(path, target)
        return root

    checkout = download

    def file(self, root=None):
        if len(self._files) != 1:
            raise ValueError("This artifact contains %d files, not one" % len(self._files))
        return os.path.join(self.download(root), next(iter(self._files)))

    def files(self, *args, **others):
        return [_File(name, path) for name, path in self._files.items()]

    def get_path(self, name):
        return _File(name, self._files[name])

    get_entry = get_path

    @property
    def size(self):
        return sum(os.path.getsize(path) for path in self._files.values())

    @property
    def file_count(self):
        return len(self._files)

    @property
    def digest(self):
        total = hashlib.md5()
        for name, path in sorted(self._files.items()):
            total.update(name.encode())
            with open(path, "rb") as file:
                for piece in iter(lambda: file.read(1 << 20), b""):
                    total.update(piece)
        return total.hexdigest()

    @property
    def qualified_name(self):
        return "%s:%s" % (self.name, self.version)

    full_name = source_name = qualified_name

    @property
    def id(self):
        return self.qualified_name

    def __getitem__(self, name):
        return self.get(name)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Unknown("Artifact." + name, says)


class _File:
    def __init__(self, name, path):
        self.name = self.path = name
        self._path = path
        self.size = os.path.getsize(path)

    def download(self, root=None, *args, **others):
        if root is None:
            return self._path
        target = os.path.join(root, self.name)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copyfile(self._path, target)
        return target


def used(name):
    """An artifact that this program logged."""
    found = logged.get(str(name).split("/")[-1].split(":")[0])
    if found is None:
        raise CommError("the artifact %s is at wandb's server, which this job does not ask. Give the job a data set "
                        "(mps data push), or set WANDB_API_KEY for the project" % name)
    return found
