"""The bench model in MLServer, as its documentation serves a model of one's own."""

import os

import onnxruntime
from mlserver import MLModel
from mlserver.codecs import NumpyCodec
from mlserver.types import InferenceRequest, InferenceResponse


class Peer(MLModel):
    async def load(self) -> bool:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(os.environ["PEER_MODEL"], options, providers=["CPUExecutionProvider"])
        return True

    async def predict(self, payload: InferenceRequest) -> InferenceResponse:
        feeds = {one.name: NumpyCodec.decode_input(one) for one in payload.inputs}
        outputs = zip(self.session.get_outputs(), self.session.run(None, feeds))
        encoded = [NumpyCodec.encode_output(output.name, value) for output, value in outputs]
        return InferenceResponse(model_name=self.name, outputs=encoded)
