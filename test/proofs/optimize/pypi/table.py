"""The Markdown of what was measured: by model and method, then each exception by name."""

NOISE = 0.02


def cell(side: dict | None) -> str:
    if side is None:
        return ""
    if "fault" in side:
        return "refused" if "does not run" not in side["fault"] else "does not run"
    broken = ", **NaN**" if side["broken"] else ""
    return f"{side['error']:.3f}, {side['agreement']:.2f}, {side['bytes'] / 1e6:.2f} MB, {side['time']:.2f} ×{broken}"


def gained(row: dict, side: dict | None) -> bool:
    """Whether it made a smaller model with numbers for answers."""
    return side is not None and "fault" not in side and side["broken"] == 0 and side["bytes"] < 0.99 * row["bytes"]


def differs(row: dict) -> bool:
    """Whether one side answers better than the other, by what few samples can show."""
    ours, theirs = row["ours"], row.get("theirs")
    if theirs is None or "fault" in ours or "fault" in theirs:
        return False
    less, more = sorted((ours["error"], theirs["error"]))
    return more > 1.05 * less + NOISE / 4 or abs(ours["agreement"] - theirs["agreement"]) > NOISE


def exception(row: dict) -> str | None:
    """Why this pair breaks "never worse than theirs"; None where it does not."""
    ours, theirs = row["ours"], row.get("theirs")
    name = f"{row['model']}, {row['method']}"
    if "fault" in ours and gained(row, theirs):
        return f"{name}: refused here, not there: {ours['fault']}"
    if "fault" in ours:
        return None
    if ours["broken"]:
        return f"{name}: NaN or infinity where the model has none"
    # Where theirs is larger by far, it left weights as they were which were converted here.
    if not gained(row, theirs) or ours["bytes"] < 0.9 * theirs["bytes"]:
        return None
    if ours["error"] > 1.05 * theirs["error"] + NOISE / 4:
        return f"{name}: error {ours['error']:.3f} where theirs is {theirs['error']:.3f}"
    if ours["agreement"] < theirs["agreement"] - NOISE:
        return f"{name}: agreement {ours['agreement']:.3f} where theirs is {theirs['agreement']:.3f}"
    return None


def table(rows: list[dict], methods: list[str]) -> str:
    order = {method: index for index, method in enumerate(methods)}
    models = list(dict.fromkeys(row["model"] for row in rows))
    lines = [
        "| model (package, task, size) | method | here: error, agreement, size, time | ONNX Runtime's quantizer, onnxconverter-common |",
        "|---|---|---|---|",
    ]
    for model in models:
        own = sorted((row for row in rows if row["model"] == model), key=lambda row: order[row["method"]])
        for index, row in enumerate(own):
            first = f"{model} ({row['package']}, {row['task']}, {row['bytes'] / 1e6:.2f} MB)" if index == 0 else ""
            closer = " (64)" if row["samples"] == 64 else ""
            lines.append(f"| {first} | `{row['method']}`{closer} | {cell(row['ours'])} | {cell(row.get('theirs'))} |")
    exceptions = [said for row in rows if (said := exception(row)) is not None]
    refused = {}
    for row in rows:
        if "fault" in row["ours"]:
            refused.setdefault(row["ours"]["fault"], []).append(f"{row['model']} {row['method']}")
    pairs = [row for row in rows if row.get("theirs") is not None]
    lines += [
        "",
        f"{len(models)} models, {len(rows)} results, {len(pairs)} beside theirs; theirs refused or broken in "
        f"{sum('fault' in row['theirs'] or row['theirs']['broken'] > 0 for row in pairs)}, ours in "
        f"{sum('fault' in row['ours'] or row['ours']['broken'] > 0 for row in pairs)} of those.",
        "",
        "Worse than theirs:" if exceptions else "Nothing is worse than theirs by more than noise, where both files are smaller than the model and of similar size.",
        *(f"- {said}" for said in exceptions),
        "",
        "Refused here:",
        *(f"- {reason} ({', '.join(names)})" for reason, names in refused.items()),
    ]
    return "\n".join(lines)
