"""The Markdown of what was measured: by model and method, then each exception by name."""

import statistics

NOISE = 0.02


def cell(side: dict | None) -> str:
    if side is None:
        return ""
    # Rows of before the proof measured them have no seconds.
    taken = f"; {side['seconds']:.1f} s, {side['peak'] / 1e6:.0f} MB" if "seconds" in side else ""
    if "fault" in side:
        return ("refused" if "does not run" not in side["fault"] else "does not run") + taken
    broken = ", **NaN**" if side["broken"] else ""
    return f"{side['error']:.3f}, {side['agreement']:.2f}, {side['bytes'] / 1e6:.2f} MB, {side['time']:.2f} ×{broken}{taken}"


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


def beside(rows: list[dict], other: str) -> list[dict]:
    return [row for row in rows if row.get(other) is not None]


def who_works(rows: list[dict], other: str, name: str) -> str:
    """In how many cells each side makes a smaller model that answers with numbers."""
    pairs = [(gained(row, row["ours"]), gained(row, row[other])) for row in beside(rows, other)]
    if not pairs:
        return f"{name} did not run."
    both, here, there = (pairs.count(one) for one in ((True, True), (True, False), (False, True)))
    return f"Of {len(pairs)} cells beside {name} both make a smaller model in {both}, only this engine in {here}, only they in {there}."


def medians(rows: list[dict], other: str, name: str) -> str:
    """Time and memory of the methods where both end well, as multiples of theirs."""
    pairs = [
        (row["ours"], row[other])
        for row in beside(rows, other)
        if "seconds" in row["ours"] and "fault" not in row["ours"] and "fault" not in row[other]
    ]
    if not pairs:
        return f"There are no times beside {name}."
    ratios = {key: statistics.median(ours[key] / theirs[key] for ours, theirs in pairs) for key in ("seconds", "peak")}
    return f"In the median of {len(pairs)} cells a method takes {ratios['seconds']:.2f} × the time and {ratios['peak']:.2f} × the memory of {name}."


def table(rows: list[dict], methods: list[str]) -> str:
    order = {method: index for index, method in enumerate(methods)}
    models = list(dict.fromkeys(row["model"] for row in rows))
    lines = [
        "| model (package, task, size) | method | here: error, agreement, size, time; seconds and peak memory of the method | ONNX Runtime's quantizer, onnxconverter-common | neural-compressor |",
        "|---|---|---|---|---|",
    ]
    for model in models:
        own = sorted((row for row in rows if row["model"] == model), key=lambda row: order[row["method"]])
        for index, row in enumerate(own):
            first = f"{model} ({row['package']}, {row['task']}, {row['bytes'] / 1e6:.2f} MB)" if index == 0 else ""
            closer = " (64)" if row["samples"] == 64 else ""
            lines.append(f"| {first} | `{row['method']}`{closer} | {cell(row['ours'])} | {cell(row.get('theirs'))} | {cell(row.get('inc'))} |")
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
        *(who_works(rows, other, name) for other, name in (("theirs", "ONNX Runtime's tools"), ("inc", "neural-compressor"))),
        *(medians(rows, other, name) for other, name in (("theirs", "ONNX Runtime's tools"), ("inc", "neural-compressor"))),
        "",
        "Worse than theirs:" if exceptions else "Nothing is worse than theirs by more than noise, where both files are smaller than the model and of similar size.",
        *(f"- {said}" for said in exceptions),
        "",
        "Refused here:",
        *(f"- {reason} ({', '.join(names)})" for reason, names in refused.items()),
    ]
    return "\n".join(lines)
