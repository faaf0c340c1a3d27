"""What a module does not know: it is named once in the log, and the program goes on."""
import importlib
import importlib.abc
import importlib.machinery
import sys
import types


class Unknown:
    """It may be called, read, indexed, iterated and derived from, and does nothing."""

    def __init__(self, name, says):
        self._name, self._says = name, says

    def _note(self):
        self._says("%s is not known here and does nothing" % self._name)

    def __call__(self, *args, **others):
        self._note()
        # A decorator returns what it decorates.
        if len(args) == 1 and callable(args[0]) and not others and not isinstance(args[0], Unknown):
            return args[0]
        return self

    def __getattr__(self, name):
        # Private names and savefig tell media from other values.
        if name.startswith("_") or name == "savefig":
            raise AttributeError(name)
        return unknown(self._name + "." + name, self._says)

    def __getitem__(self, key):
        return Unknown(self._name, self._says)

    def __setitem__(self, key, value):
        self._note()

    def __iter__(self):
        return iter(())

    def __len__(self):
        return 0

    def __contains__(self, value):
        return False

    def __bool__(self):
        return False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return False

    def __instancecheck__(self, value):
        return False

    def __subclasscheck__(self, value):
        return False

    def __mro_entries__(self, bases):
        self._note()
        return (_Base,)


class _Base:
    """What a class of an unknown one is derived from. It takes every argument."""

    def __init__(self, *args, **others):
        pass


_errors = {}


def unknown(name, says):
    """What stands for an unknown name. A program may catch an error of any name."""
    last = name.rsplit(".", 1)[-1]
    # Inner modules of a package have its classes, too.
    known = vars(sys.modules[says.tracker]).get(last) if last[:1].isupper() else None
    if known is not None:
        return known
    if last[:1].isupper() and last.endswith(("Error", "Exception", "Warning")):
        return _errors.setdefault((says.tracker, last), type(last, (Exception,), {"__module__": says.tracker}))
    return Unknown(name, says)


def does_nothing(name, says, result=None, why="does nothing here"):
    """A function that is known and has nothing to do. Its first call says so."""

    def call(*args, **others):
        says("%s %s" % (name, why))
        return result

    call.__name__ = name.rsplit(".", 1)[-1]
    call.is_named = True
    return call


class _Submodule(types.ModuleType):
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        top = self.__name__.split(".")[0]
        finder = _finders[top]
        found = finder.find(self.__name__[len(top) + 1 :], name)
        return found if found is not None else unknown(self.__name__[len(top) + 1 :] + "." + name, finder.says)


_finders = {}


class Submodules(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Every module below one of a tracker can be imported. What it contains is asked of find(module, name)."""

    def __init__(self, module, says, find=lambda module, name: None):
        self.module, self.says = module, says
        # What the tracker has at its top is also what its inner modules contain.
        self.find = lambda below, name: find(below, name) or vars(sys.modules[module]).get(name)
        _finders[module] = self
        sys.meta_path.append(self)

    def find_spec(self, fullname, path=None, target=None):
        if fullname.startswith(self.module + "."):
            return importlib.machinery.ModuleSpec(fullname, self, is_package=True)
        return None

    def create_module(self, spec):
        return _Submodule(spec.name)

    def exec_module(self, module):
        pass
