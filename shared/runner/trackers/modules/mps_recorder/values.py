"""Values that programs log, as numbers, texts and key-value pairs."""
import json

from .unknown import Unknown


def number(value):
    """The number of a value: also of NumPy's and of tensors with one element. None of anything else."""
    if isinstance(value, (bool, int, float)):
        return float(value)
    if isinstance(value, (str, bytes, dict, list, tuple, Unknown)) or value is None:
        return None
    try:
        if getattr(value, "numel", None) is not None and value.numel() != 1:
            return None
        if getattr(value, "size", 1) not in (1,) and not callable(getattr(value, "size", None)):
            return None
        return float(value.item() if hasattr(value, "item") else value)
    except Exception:
        return None


def flat(data, prefix="", separator="."):
    """The pairs of a dict, with those of the dicts in it."""
    for key, value in dict(data).items():
        name = prefix + str(key)
        if isinstance(value, dict) and value:
            yield from flat(value, name + separator, separator)
        else:
            yield name, value


def plain(value, says):
    """The pairs of a dict, a Namespace, a configuration of another library, or a file."""
    if value is None:
        return {}
    if isinstance(value, str):
        return _of_file(value, says)
    if hasattr(value, "items"):
        return dict(value.items())
    try:
        return dict(vars(value))
    except TypeError:
        return {}


def _of_file(path, says):
    try:
        with open(path) as file:
            text = file.read()
        if path.endswith((".yaml", ".yml")):
            import yaml
            return dict(yaml.safe_load(text) or {})
        return dict(json.loads(text))
    except ImportError:
        says("the configuration %s needs PyYAML, which is not installed" % path)
    except Exception as error:
        says("the configuration %s is not read: %s" % (path, error))
    return {}


def text_of(value):
    """A value as the text of a param or tag."""
    if isinstance(value, (dict, list, tuple)):
        try:
            return json.dumps(value, default=str)
        except Exception:
            pass
    return str(value)
