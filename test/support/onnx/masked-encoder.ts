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

const [width, heads, inner] = [16, 4, 32];

/**
 * Layers of an encoder as PyTorch's exporter writes them: BERT's additive mask, attention in heads, Gelu by Erf, and
 * LayerNormalization in its parts below opset 17. A counted mask is of whole numbers, as tokenizers give it. Inputs `x` [batch, length, 16] and `mask` [batch, length] of 1 and 0.
 */
export function maskedEncoder(opset: number, { layers = 2, isCounted = false } = {}): Model {
  const random = seededRandom(opset);
  const nodes: NodeProto[] = [];
  const constants: Tensor[] = [];
  const number = (name: string, value: number) =>
    constants.push(makeTensor(name, 'float', [], Float32Array.of(value)));
  const weight = (name: string, dims: readonly number[], offset = 0): string => {
    const values = seededFloats(random, elementCount(dims), 0.4).map((value) => value + offset);
    constants.push(makeTensor(name, 'float', dims, values));
    return name;
  };
  const node = (
    op: string,
    inputs: readonly string[],
    output: string,
    attributes: Record<string, AttributeValue> = {},
  ): string => {
    nodes.push(makeNode(op, inputs, [output], { name: output, attributes }));
    return output;
  };
  const axes = (values: readonly number[], name: string, position: 'input' | 'attribute') => {
    if (position === 'attribute') return { inputs: [], attributes: { axes: values } };
    constants.push(makeInt64s(name, values));
    return { inputs: [name], attributes: {} };
  };
  const linear = (x: string, name: string, from: number, to: number): string =>
    node(
      'Add',
      [weight(`${name}.b`, [to]), node('MatMul', [x, weight(`${name}.w`, [from, to])], `${name}.mm`)],
      name,
    );
  const head = (x: string, perm: readonly number[]): string =>
    node('Transpose', [node('Reshape', [x, 'heads'], `${x}.r`)], `${x}.t`, { perm });
  const mean = (x: string, name: string) => {
    const over = axes([-1], `${name}.axes`, opset < 18 ? 'attribute' : 'input');
    return node('ReduceMean', [x, ...over.inputs], name, over.attributes);
  };
  const norm = (x: string, name: string): string => {
    const [gain, shift] = [weight(`${name}.g`, [width], 1), weight(`${name}.s`, [width])];
    if (opset >= 17) return node('LayerNormalization', [x, gain, shift], name, { epsilon: { float: 1e-12 } });
    const apart = node('Sub', [x, mean(x, `${name}.m`)], `${name}.d`);
    const variance = mean(node('Pow', [apart, 'square'], `${name}.p`), `${name}.v`);
    const root = node('Sqrt', [node('Add', [variance, 'epsilon'], `${name}.e`)], `${name}.q`);
    const scaled = node('Mul', [node('Div', [apart, root], `${name}.n`), gain], `${name}.k`);
    return node('Add', [scaled, shift], name);
  };
  const scalars = { square: 2, epsilon: 1e-12, root2: Math.SQRT2, one: 1, half: 0.5, scale: 2, far: -10000 };
  for (const [name, value] of Object.entries(scalars)) number(name, value);
  constants.push(makeInt64s('heads', [0, 0, heads, width / heads]), makeInt64s('merged', [0, 0, width]));
  const wide = axes([1, 2], 'mask.axes', opset < 13 ? 'attribute' : 'input');
  const given = isCounted ? node('Cast', ['mask'], 'counted', { to: 7 }) : 'mask';
  const spread = node('Unsqueeze', [given, ...wide.inputs], 'spread', wide.attributes);
  const open = isCounted ? node('Cast', [spread], 'open', { to: 1 }) : spread;
  const mask = node('Mul', [node('Sub', ['one', open], 'closed'), 'far'], 'added');
  let x = 'x';
  for (let layer = 0; layer < layers; layer += 1) {
    const of = (name: string) => `${name}_${layer}`;
    const q = head(linear(x, of('q'), width, width), [0, 2, 1, 3]);
    const k = head(linear(x, of('k'), width, width), [0, 2, 3, 1]);
    const v = head(linear(x, of('v'), width, width), [0, 2, 1, 3]);
    const scores = node('Div', [node('MatMul', [q, k], of('qk')), 'scale'], of('scores'));
    const weights = node('Softmax', [node('Add', [scores, mask], of('masked'))], of('softmax'), { axis: -1 });
    const back = node('Transpose', [node('MatMul', [weights, v], of('mixed'))], of('back'), {
      perm: [0, 2, 1, 3],
    });
    const joined = node('Reshape', [back, 'merged'], of('joined'));
    const first = norm(node('Add', [linear(joined, of('o'), width, width), x], of('sum1')), of('norm1'));
    const up = linear(first, of('up'), width, inner);
    const erf = node('Erf', [node('Div', [up, 'root2'], of('scaled'))], of('erf'));
    const grown = node('Mul', [up, node('Add', [erf, 'one'], of('grown'))], of('twice'));
    const act = node('Mul', [grown, 'half'], of('act'));
    x = norm(node('Add', [linear(act, of('down'), inner, width), first], of('sum2')), of('norm2'));
  }
  const shape = ['batch', 'length', width];
  return smallModel({
    nodes,
    constants,
    inputs: { x: shape, mask: ['batch', 'length'] },
    outputs: { [x]: shape },
    opset,
  });
}
