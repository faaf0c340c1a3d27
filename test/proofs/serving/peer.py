"""The same model in BentoML, as its documentation serves an array: `bentoml serve peer:Peer`."""

import os

import bentoml
import numpy as np
import onnxruntime


@bentoml.service(workers=1)
class Peer:
    def __init__(self) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(os.environ["PEER_MODEL"], options, providers=["CPUExecutionProvider"])

    @bentoml.api
    def infer(self, x: np.ndarray) -> np.ndarray:
        return self.session.run(None, {"x": x.astype(np.float32)})[0]
