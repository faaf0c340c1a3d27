"""Quantizes the encoder with ONNX Runtime's own quantizer, by its defaults. Usage: reference.py <folder>"""

import sys
from pathlib import Path

from onnxruntime.quantization import QuantType, quantize_dynamic
from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer

folder = Path(sys.argv[1])
model = str(folder / "encoder.onnx")
quantize_dynamic(model, str(folder / "reference-dynamic.onnx"), weight_type=QuantType.QInt8)
four = MatMulNBitsQuantizer(model, bits=4, block_size=32, is_symmetric=True, accuracy_level=4, op_types_to_quantize=("MatMul", "Gather"))
four.process()
four.model.save_model_to_file(str(folder / "reference-4bit.onnx"))
