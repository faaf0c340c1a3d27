import { makeNode } from '../../../shared/onnx/model/graph/graph.ts';
import { makeTensor } from '../../../shared/onnx/model/tensor/tensor.ts';
import { savedBytes, smallModel } from '../../support/onnx/small-model.ts';

/** Numbers in a row of the input `x` and the output `y`. */
export const width = 1024;

/** Return a model of so many MiB of weights: products of a row with square matrices, which differ by `seed`. */
export function squareProducts(mebibytes: number, seed = 0): Uint8Array {
  const layers = (mebibytes * 2 ** 20) / (4 * width * width);
  const names = Array.from({ length: layers + 1 }, (_, index) =>
    index === 0 ? 'x' : index === layers ? 'y' : `h${index}`,
  );
  const values = new Float32Array(width * width).map((_, index) => (((index + seed) % 7) - 3) / width);
  return savedBytes(
    smallModel({
      nodes: names
        .slice(1)
        .map((name, index) => makeNode('MatMul', [names[index] ?? '', `w${index}`], [name])),
      constants: names.slice(1).map((_, index) => makeTensor(`w${index}`, 'float', [width, width], values)),
      inputs: { x: ['n', width] },
      outputs: { y: ['n', width] },
    }),
  );
}

/** The body of an inference of one row, with its header. */
export function rowOf(value: number): { headers: Record<string, string>; body: Buffer } {
  const tensor = Buffer.from(new Float32Array(width).fill(value).buffer);
  const head = Buffer.from(
    JSON.stringify({
      inputs: [
        { name: 'x', shape: [1, width], datatype: 'FP32', parameters: { binary_data_size: tensor.length } },
      ],
      parameters: { binary_data_output: true },
    }),
  );
  return {
    headers: {
      'Content-Type': 'application/octet-stream',
      'Inference-Header-Content-Length': String(head.length),
    },
    body: Buffer.concat([head, tensor]),
  };
}
