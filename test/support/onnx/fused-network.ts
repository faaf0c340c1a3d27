import type { Model } from '../../../shared/onnx/model/file/model.ts';
import { makeNode } from '../../../shared/onnx/model/graph/graph.ts';
import { elementCount, makeTensor, type Tensor } from '../../../shared/onnx/model/tensor/tensor.ts';
import { seededRandom } from '../seeded-random.ts';
import { seededFloats } from './seeded.ts';
import { smallModel } from './small-model.ts';

const domain = 'com.microsoft';
const [width, heads, inner] = [16, 4, 32];

/**
 * A transformer's layer as ONNX Runtime's optimizer leaves it: Attention or MultiHeadAttention, SkipLayerNormalization,
 * BiasGelu; [2, 5, 16] to the same.
 */
export function fusedTransformer(attention: 'Attention' | 'MultiHeadAttention' = 'Attention'): Model {
  const random = seededRandom(21);
  const constants: Tensor[] = [];
  const weight = (name: string, dims: readonly number[], offset = 0): string => {
    const values = seededFloats(random, elementCount(dims), 0.4).map((value) => value + offset);
    constants.push(makeTensor(name, 'float', dims, values));
    return name;
  };
  const product = (x: string, name: string, from: number, to: number) =>
    makeNode('MatMul', [x, weight(`${name}.w`, [from, to])], [name], { name });
  const norm = (x: string, skip: string, name: string) =>
    makeNode(
      'SkipLayerNormalization',
      [x, skip, weight(`${name}.g`, [width], 1), weight(`${name}.b`, [width]), weight(`${name}.c`, [width])],
      [name],
      { name, domain },
    );
  const attributes = { num_heads: heads };
  const bias = weight('bias', [3 * width]);
  const attended =
    attention === 'Attention'
      ? [
          makeNode('Attention', ['x', weight('qkv.w', [width, 3 * width]), bias], ['a'], {
            ...{ name: 'attention', domain, attributes },
          }),
        ]
      : [
          ...['q', 'k', 'v'].map((name) => product('x', name, width, width)),
          makeNode('MultiHeadAttention', ['q', 'k', 'v', bias], ['a'], {
            ...{ name: 'attention', domain, attributes },
          }),
        ];
  return smallModel({
    nodes: [
      ...attended,
      product('a', 'o', width, width),
      norm('x', 'o', 'n1'),
      product('n1', 'up', width, inner),
      makeNode('BiasGelu', ['up', weight('up.b', [inner])], ['act'], { name: 'act', domain }),
      product('act', 'down', inner, width),
      norm('down', 'n1', 'y'),
    ],
    constants,
    inputs: { x: [2, 5, width] },
    outputs: { y: [2, 5, width] },
    domains: { [domain]: 1 },
  });
}
