"""Compresses a model by the field's own tools. Usage: reference.py <json>; compare.py writes the task."""

import json
import pathlib
import sys

import numpy as np
import onnx

task = json.loads(sys.argv[1])
method, source, out = task["method"], task["model"], task["out"]


def samples():
    arrays = np.load(task["calibration"])
    return [{name: np.asarray(arrays[name][index]) for name in arrays.files} for index in range(task["samples"])]


def prepared():
    """What ONNX Runtime's documentation asks for before static quantization; the model itself where that fails."""
    from onnxruntime.quantization.shape_inference import quant_pre_process

    path = str(pathlib.Path(out).with_suffix(".prepared.onnx"))
    try:
        quant_pre_process(source, path)
        return path
    except Exception:
        quant_pre_process(source, path, skip_symbolic_shape=True)
        return path


if method == "float16":
    from onnxconverter_common import float16

    onnx.save(float16.convert_float_to_float16(onnx.load(source), keep_io_types=True), out)
elif method.startswith("weight_only"):
    from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer

    bits = int(method.rpartition(" ")[2])
    quantizer = MatMulNBitsQuantizer(source, bits=bits, block_size=32, is_symmetric=True, accuracy_level=4)
    quantizer.process()
    quantizer.model.save_model_to_file(out)
elif method == "dynamic":
    from onnxruntime.quantization import QuantType, quantize_dynamic

    # Not Conv, which this engine takes only when asked: ConvInteger is slower than Conv.
    operators = ["MatMul", "Gemm", "Attention", "LSTM", "Gather", "EmbedLayerNormalization"]
    quantize_dynamic(source, out, op_types_to_quantize=operators, per_channel=True, weight_type=QuantType.QInt8)
else:
    from onnxruntime.quantization import CalibrationDataReader, CalibrationMethod, QuantFormat, QuantType, quantize_static

    class Samples(CalibrationDataReader):
        def __init__(self):
            self.rows = iter(samples())

        def get_next(self):
            return next(self.rows, None)

    methods = {
        "static_minmax": CalibrationMethod.MinMax,
        "static_percentile": CalibrationMethod.Percentile,
        "static_entropy": CalibrationMethod.Entropy,
    }
    quantize_static(
        prepared(),
        out,
        Samples(),
        quant_format=QuantFormat.QDQ,
        per_channel=True,
        activation_type=QuantType.QUInt8,
        weight_type=QuantType.QInt8,
        calibrate_method=methods[method],
    )
