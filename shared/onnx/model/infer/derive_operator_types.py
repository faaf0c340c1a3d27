"""Writes operator-types.ts and microsoft-types.ts: the types of every operator's inputs and outputs, from the published schemas.

Needs the PyPI packages onnx (schemas of ONNX, every version) and onnxruntime (those of its own operators):

    pip install onnx onnxruntime && python3 shared/onnx/model/infer/derive_operator_types.py

With --check it writes nothing: it names the operators of the installed packages that the files lack.
"""

import sys
from pathlib import Path

import onnx
import onnxruntime
from onnxruntime.capi import onnxruntime_pybind11_state as runtime

# Attributes by which an operator names the type of what it makes.
TYPING = ("to", "dtype", "output_dtype", "output_datatype")


def element(text):
    """`float` of `tensor(float)`; None for what is no tensor."""
    return text[len("tensor(") : -1] if text.startswith("tensor(") else None


def line(schema, string):
    constraints = {
        one.type_param_str: list(one.allowed_type_strs) for one in schema.type_constraints
    }
    halves, used = [], set()
    # ONNX Runtime does not hand out the defaults of its own operators.
    defaults = {
        name: one.default_value.i
        for name, one in schema.attributes.items()
        if hasattr(one, "default_value")
    }

    def formal(parameter):
        name = string(parameter)
        allowed = constraints.get(name)
        if allowed is None or len(allowed) == 1:
            text = element(allowed[0] if allowed else name)
            said = "-" if text is None else text
        else:
            used.add(name)
            said = name
            if "tensor(float16)" in allowed and name not in halves:
                halves.append(name)
        option = str(parameter.option).rsplit(".", 1)[-1]
        if option != "Variadic":
            return said
        return said + ("*" if getattr(parameter, "isHomogeneous", getattr(parameter, "is_homogeneous", True)) else "!")

    inputs = [formal(one) for one in schema.inputs]
    bound = {name.rstrip("*!") for name in inputs}
    outputs = []
    for one in schema.outputs:
        said = formal(one)
        attribute = next((name for name in TYPING if name in schema.attributes), None)
        if said in used and attribute is not None and (said not in bound or attribute.startswith("output")):
            said += f"@{attribute}"
            default = defaults.get(attribute)
            if default:
                said += f"={default}"
        outputs.append(said)
    variables = " ".join(f"{name}" for name in halves)
    return f"{','.join(inputs)}>{','.join(outputs)}>{variables}"


def rows():
    found = {}
    for schema in onnx.defs.get_all_schemas_with_history():
        found.setdefault((schema.domain, schema.name), {})[schema.since_version] = line(
            schema, lambda one: one.type_str
        )
    published = set(found)
    for schema in runtime.get_all_operator_schema():
        # Some of its own are in the domain of ONNX. Other domains are layouts that it uses inside.
        if schema.domain in ("", "com.microsoft") and (schema.domain, schema.name) not in published:
            # One that was taken out again has no types from then on.
            found.setdefault((schema.domain, schema.name), {})[schema.since_version] = (
                ">>" if schema.deprecated else line(schema, lambda one: one.typeStr)
            )
    for (domain, name), versions in sorted(found.items()):
        last = None
        for since, text in sorted(versions.items()):
            if text != last:
                yield f"{domain}:{name}:{since}:{text}"
            last = text


def operators(lines):
    return {":".join(one.split(":")[:2]) for one in lines}


target = Path(__file__).with_name("operator-types.ts")
runtimes = Path(__file__).with_name("microsoft-types.ts")
if sys.argv[1:] == ["--check"]:
    written = target.read_text() + runtimes.read_text()
    known = operators(one for one in written.splitlines() if one.count(":") > 2)
    absent = sorted(operators(rows()) - known)
    print("\n".join(absent) or "The files have every operator of the installed packages.")
    sys.exit(1 if absent else 0)
own, microsoft = [], []
for one in rows():
    (microsoft if one.startswith("com.microsoft:") else own).append(one)
target.write_text(
    "/**\n"
    f" * Written by derive_operator_types.py of onnx {onnx.__version__} and onnxruntime {onnxruntime.__version__}; not to be edited.\n"
    " *\n"
    " * `domain:operator:version:inputs>outputs>halves`, a line for each version that changed one of them. A type is that of\n"
    " * an element, a variable that several parameters share, or `-` for what is no tensor. `*` repeats a parameter, `!` does\n"
    " * with another type each time, `@` names the attribute that tells the type, with its default. Variables of `halves` may be float16.\n"
    " */\n"
    "export const operatorTypes = `\n" + "\n".join(own) + "\n`;\n"
)
runtimes.write_text(
    "/** The types of ONNX Runtime's own operators, in the form of `operator-types.ts`. Written with it; not to be edited. */\n"
    "export const microsoftTypes = `\n" + "\n".join(microsoft) + "\n`;\n"
)
