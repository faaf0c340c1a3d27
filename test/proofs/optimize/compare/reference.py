"""Quantizes a model with ONNX Runtime's own quantizer. Usage: reference.py <json>"""

import json
import sys

task = json.loads(sys.argv[1])
method = task["method"]

if method == "weight_only":
    from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer

    quantizer = MatMulNBitsQuantizer(task["model"], bits=4, block_size=32, is_symmetric=True, accuracy_level=4)
    quantizer.process()
    quantizer.model.save_model_to_file(task["out"])
elif method == "dynamic":
    from onnxruntime.quantization import QuantType, quantize_dynamic

    quantize_dynamic(
        task["model"], task["out"], op_types_to_quantize=task["operators"], per_channel=False, weight_type=QuantType.QInt8
    )
else:
    import numpy as np
    from onnxruntime.quantization import (
        CalibrationDataReader,
        CalibrationMethod,
        QuantFormat,
        QuantType,
        quantize_static,
    )

    class Samples(CalibrationDataReader):
        def __init__(self):
            arrays = np.load(task["calibration"])
            (self.name,) = arrays.files
            self.rows = iter(arrays[self.name])

        def get_next(self):
            row = next(self.rows, None)
            return None if row is None else {self.name: row[np.newaxis]}

    methods = {
        "static_minmax": CalibrationMethod.MinMax,
        "static_percentile": CalibrationMethod.Percentile,
        "static_entropy": CalibrationMethod.Entropy,
    }
    quantize_static(
        task["model"],
        task["out"],
        Samples(),
        quant_format=QuantFormat.QDQ,
        op_types_to_quantize=task["operators"],
        per_channel=True,
        reduce_range=False,
        activation_type=QuantType.QInt8,
        weight_type=QuantType.QInt8,
        calibrate_method=methods[method],
        extra_options={"CalibPercentile": 99.999} if method == "static_percentile" else None,
    )
