"""Dynamic int8 of Optimum, as its users make it: its own export of a repository, then ORTQuantizer with its configuration.

Usage: optimum_int8.py <folder>..., of Optimum's own environment. Each has model.onnx of our exporter and about.json:
{"repository", "task"}. Writes optimum.onnx beside them, and optimum.json: which float file it was made of, and why.
"""

import contextlib
import io
import json
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import optimum.onnxruntime as optimum
import transformers

CLASSES = {
    "feature-extraction": "ORTModelForFeatureExtraction",
    "text-classification": "ORTModelForSequenceClassification",
    "token-classification": "ORTModelForTokenClassification",
    "fill-mask": "ORTModelForMaskedLM",
    "image-classification": "ORTModelForImageClassification",
}


def float_file(repository, task, into):
    """Let Optimum export the repository. @returns why it could not"""
    with TemporaryDirectory() as copy:
        # Its transformers are older than the ones that wrote the tokenizer, which an export does not need.
        shutil.copytree(repository, copy, dirs_exist_ok=True, ignore=shutil.ignore_patterns("tokenizer*", "onnx"))
        try:
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                getattr(optimum, CLASSES[task]).from_pretrained(copy, export=True).save_pretrained(into)
        except Exception as error:
            return f"{type(error).__name__}: {str(error).strip().splitlines()[0][:120]}"
    return None


def main(folders):
    transformers.logging.set_verbosity_error()
    for folder in map(Path, folders):
        about = json.loads((folder / "about.json").read_text())
        with TemporaryDirectory() as work:
            reason = float_file(about["repository"], about["task"], work)
            if reason is not None:
                shutil.rmtree(work)
                Path(work).mkdir()
                shutil.copyfile(folder / "model.onnx", Path(work) / "model.onnx")
            quantizer = optimum.ORTQuantizer.from_pretrained(work, file_name="model.onnx")
            config = optimum.AutoQuantizationConfig.avx512_vnni(is_static=False, per_channel=False)
            with contextlib.redirect_stdout(io.StringIO()):
                quantizer.quantize(quantization_config=config, save_dir=str(Path(work) / "int8"))
            shutil.copyfile(Path(work) / "int8/model_quantized.onnx", folder / "optimum.onnx")
        (folder / "optimum.json").write_text(json.dumps({"float": "its own export" if reason is None else "ours", "reason": reason}))


if __name__ == "__main__":
    main(sys.argv[1:])
