"""Quantizes the encoder with ONNX Runtime's own quantizer, by its defaults. Usage: reference.py <folder>"""

import sys
from pathlib import Path

from onnxruntime.quantization import QuantType, quantize_dynamic

folder = Path(sys.argv[1])
model = str(folder / "encoder.onnx")
quantize_dynamic(model, str(folder / "reference-dynamic.onnx"), weight_type=QuantType.QInt8)
