import type { Model } from '../../../shared/onnx/model/file/model.ts';
import type { AttributeValue } from '../../../shared/onnx/model/graph/attributes.ts';
import { makeNode } from '../../../shared/onnx/model/graph/graph.ts';
import type { NodeProto } from '../../../shared/onnx/model/proto/onnx_pb.js';
import {
  elementCount,
  makeInt64s,
  makeTensor,
  type Tensor,
} from '../../../shared/onnx/model/tensor/tensor.ts';
import { seededRandom } from '../seeded-random.ts';
import { seededFloats } from './seeded.ts';
import { smallModel } from './small-model.ts';

/** Collects nodes and seeded constants. */
class Maker {
  readonly nodes: NodeProto[] = [];
  readonly constants: Tensor[] = [];
  readonly #random = seededRandom(3);

  float(name: string, dims: readonly number[], scale = 0.3, offset = 0): string {
    const values = seededFloats(this.#random, elementCount(dims), scale).map((value) => value + offset);
    this.constants.push(makeTensor(name, 'float', dims, values));
    return name;
  }

  integers(name: string, values: readonly number[]): string {
    this.constants.push(makeInt64s(name, values));
    return name;
  }

  node(
    op: string,
    inputs: readonly string[],
    output: string,
    attributes: Record<string, AttributeValue> = {},
  ): string {
    this.nodes.push(makeNode(op, inputs, [output], { name: `${output}_node`, attributes }));
    return output;
  }

  /** Conv, BatchNormalization, and Relu or Clip(0, 6) where it is wanted. */
  block(x: string, name: string, channels: number, { group = 1, clip = 'Relu', kernel = 3 } = {}): string {
    const pad = (kernel - 1) / 2;
    const w = this.float(`${name}.w`, [channels, channels / group, kernel, kernel]);
    const attributes = { kernel_shape: [kernel, kernel], pads: [pad, pad, pad, pad], group };
    const y = this.node('Conv', [x, w], `${name}.conv`, attributes);
    const statistics = [
      this.float(`${name}.scale`, [channels], 0.3, 1),
      this.float(`${name}.shift`, [channels]),
      this.float(`${name}.mean`, [channels]),
      this.float(`${name}.variance`, [channels], 0.3, 1),
    ];
    const normal = this.node('BatchNormalization', [y, ...statistics], `${name}.norm`);
    if (clip === 'Clip') return this.node('Clip', [normal, 'zero', 'six'], `${name}.out`);
    return clip === 'Relu' ? this.node('Relu', [normal], `${name}.out`) : normal;
  }
}

/** Conv with BatchNormalization, a residual Add, MaxPool, Concat, Flatten and Gemm: [batch, 8, 6, 6] to [batch, 5]. */
export function convolutional(opset: number): Model {
  const make = new Maker();
  const a = make.block('x', 'a', 8);
  const b = make.block(make.block(a, 'b', 8), 'c', 8, { clip: 'none' });
  const sum = make.node('Relu', [make.node('Add', [a, b], 'sum')], 'sum.out');
  const pool = make.node('MaxPool', [sum], 'pool', { kernel_shape: [2, 2], strides: [2, 2] });
  const halves = ['d', 'e'].map((name) =>
    make.node('Conv', [pool, make.float(`${name}.w`, [4, 8, 1, 1]), make.float(`${name}.b`, [4])], name),
  );
  const flat = make.node('Flatten', [make.node('Concat', halves, 'both', { axis: 1 })], 'flat');
  make.node('Gemm', [flat, make.float('fc.w', [5, 72]), make.float('fc.b', [5])], 'y', { transB: 1 });
  const { nodes, constants } = make;
  const shapes = { inputs: { x: ['batch', 8, 6, 6] }, outputs: { y: ['batch', 5] } };
  return smallModel({ nodes, constants, ...shapes, opset });
}

/** Depthwise separable convolutions with Clip(0, 6): [batch, 8, 6, 6] to [batch, 8, 1, 1]. */
export function depthwise(opset: number): Model {
  const make = new Maker();
  make.constants.push(makeTensor('zero', 'float', [], Float32Array.of(0)));
  make.constants.push(makeTensor('six', 'float', [], Float32Array.of(6)));
  const wide = make.block('x', 'a', 8, { clip: 'Clip', group: 8 });
  const narrow = make.block(wide, 'b', 8, { clip: 'none', kernel: 1 });
  make.node('GlobalAveragePool', [make.node('Add', [narrow, 'x'], 'sum')], 'y');
  const { nodes, constants } = make;
  const shapes = { inputs: { x: ['batch', 8, 6, 6] }, outputs: { y: ['batch', 8, 1, 1] } };
  return smallModel({ nodes, constants, ...shapes, opset });
}

/** A transformer's block with two heads and shared projection of keys and values: [batch, 4, 16] to the same. */
export function transformer(opset: number): Model {
  const make = new Maker();
  make.integers('heads', [0, 0, 2, 8]);
  make.integers('merged', [0, 0, 16]);
  const linear = (x: string, from: number, to: number, name: string) =>
    make.node(
      'Add',
      [
        make.node('MatMul', [x, make.float(`${name}.w`, [from, to])], `${name}.mm`),
        make.float(`${name}.b`, [to]),
      ],
      name,
    );
  const head = (x: string, name: string, perm: number[]) =>
    make.node('Transpose', [make.node('Reshape', [x, 'heads'], `${name}.r`)], `${name}.t`, { perm });
  const q = head(linear('x', 16, 16, 'q'), 'q', [0, 2, 1, 3]);
  const keys = linear('x', 16, 16, 'k');
  const k = head(keys, 'k', [0, 2, 3, 1]);
  const v = head(keys, 'v', [0, 2, 1, 3]);
  const scores = make.node(
    'Mul',
    [make.node('MatMul', [q, k], 'qk'), make.float('factor', [], 0, 0.35)],
    'scores',
  );
  const attended = make.node(
    'MatMul',
    [make.node('Softmax', [scores], 'weights', { axis: -1 }), v],
    'attended',
  );
  const back = make.node('Transpose', [attended], 'back', { perm: [0, 2, 1, 3] });
  const sum = make.node(
    'Add',
    [linear(make.node('Reshape', [back, 'merged'], 'joined'), 16, 16, 'o'), 'x'],
    'sum',
  );
  const gain = [make.float('ln.scale', [16], 0.2, 1), make.float('ln.shift', [16])];
  const normal = opset >= 17 ? make.node('LayerNormalization', [sum, ...gain], 'normal') : sum;
  const inner = make.node('Relu', [linear(normal, 16, 32, 'f')], 'f.out');
  make.node('Add', [linear(inner, 32, 16, 'g'), normal], 'y');
  const { nodes, constants } = make;
  const dims = ['batch', 4, 16];
  return smallModel({ nodes, constants, inputs: { x: dims }, outputs: { y: dims }, opset });
}

/** Two LSTMs, the first in both directions, and a product: [5, batch, 6] to [1, batch, 3]. */
export function recurrent(opset: number): Model {
  const make = new Maker();
  make.integers('joined', [0, 0, 16]);
  const [w, r, b] = [make.float('w', [2, 32, 6]), make.float('r', [2, 32, 8]), make.float('b', [2, 64])];
  const attributes = { hidden_size: 8, direction: 'bidirectional' };
  make.node('LSTM', ['x', w, r, b], 'both', attributes);
  const turned = make.node('Transpose', ['both'], 'turned', { perm: [0, 2, 1, 3] });
  const joined = make.node('Reshape', [turned, 'joined'], 'joint');
  make.nodes.push(
    makeNode('LSTM', [joined, make.float('w2', [1, 32, 16]), make.float('r2', [1, 32, 8])], ['', 'last'], {
      name: 'second',
      attributes: { hidden_size: 8 },
    }),
  );
  make.node('MatMul', ['last', make.float('head', [8, 3])], 'y');
  const { nodes, constants } = make;
  const shapes = { inputs: { x: [5, 'batch', 6] }, outputs: { y: [1, 'batch', 3] } };
  return smallModel({ nodes, constants, ...shapes, opset });
}
