import { describe, expect, test } from 'vitest';
import { arrows, graphOf } from './graph-of.ts';

test('layers follow each other unless they name their inputs', () => {
  const graph = graphOf(`
model:
  layers:
    - {name: image, type: Input, shape: [32, 32, 3]}
    - {name: conv, type: torch.nn.Conv2d, filters: 32}
    - {name: norm, type: BatchNorm}
    - {name: add, type: Add, inputs: [norm, image]}
    - {type: ReLU}
`);
  expect(graph.kind).toBe('layers');
  expect(graph.nodes.map(({ id, label, type }) => [id, label, type])).toEqual([
    ['image', 'image', 'Input'],
    ['conv', 'conv', 'Conv2d'],
    ['norm', 'norm', 'BatchNorm'],
    ['add', 'add', 'Add'],
    ['4', 'ReLU', 'ReLU'],
  ]);
  expect(graph.nodes[0]?.attributes).toEqual({ shape: '32, 32, 3' });
  expect(arrows(graph)).toEqual(['image > conv', 'conv > norm', 'norm > add', 'image > add', 'add > 4']);
  expect(graph.roots).toEqual(['image']);
});

describe('the ways of others', () => {
  const keras2 =
    '{"class_name":"Functional","config":{"layers":[{"class_name":"InputLayer","config":{"name":"in"},"name":"in","inbound_nodes":[]},{"class_name":"Dense","config":{"units":4},"name":"d","inbound_nodes":[[["in",0,0,{}]]]},{"class_name":"Add","name":"a","config":{},"inbound_nodes":[[["in",0,0,{}],["d",0,0,{}]]]}]}}';
  const history = (name: string) =>
    `{"class_name":"__keras_tensor__","config":{"shape":[null,4],"keras_history":["${name}",0,0]}}`;
  const keras3 = `{"config":{"layers":[{"class_name":"InputLayer","name":"in","inbound_nodes":[]},{"class_name":"Dense","name":"d","inbound_nodes":[{"args":[${history('in')}],"kwargs":{}}]},{"class_name":"Add","name":"a","inbound_nodes":[{"args":[[${history('in')},${history('d')}]],"kwargs":{}}]}]}}`;
  test.each([
    ['Keras 2', keras2, ['in > d', 'in > a', 'd > a']],
    ['Keras 3', keras3, ['in > d', 'in > a', 'd > a']],
    [
      'YOLO',
      'backbone: [[-1, 1, Conv, [64]], [-1, 3, C3, [128]]]\nhead: [[-1, 1, Upsample, [None, 2]], [[-1, 0], 1, Concat, [1]], [[2, 3], 1, Detect, [nc]]]',
      ['0 > 1', '1 > 2', '2 > 3', '0 > 3', '2 > 4', '3 > 4'],
    ],
    [
      'Caffe, in place',
      'layers: [{name: c, type: Conv, top: x}, {name: r, type: ReLU, bottom: x, top: x}, {name: p, type: Pool, bottom: x}]',
      ['c > r', 'r > p'],
    ],
    ['a mapping in order', 'layers: {a: {type: Conv}, b: {type: Pool}}', ['a > b']],
    ['single keys and words', 'layers: [{conv: {filters: 3}}, relu, {dense: 10}]', ['0 > 1', '1 > 2']],
    [
      'two inputs',
      'layers: [{name: a, type: Input}, {name: b, type: Input}, {name: c, type: Concat, inputs: [a, b]}]',
      ['a > c', 'b > c'],
    ],
    [
      'skips',
      'layers: [{name: a, type: x}, {name: b, type: x}, {name: c, type: x, residual: a}, {name: d, type: x, skip_from: -3}]',
      ['a > b', 'b > c', 'a > c: residual', 'c > d', 'a > d: skip_from'],
    ],
    [
      'sizes are no layers',
      'layers: [{name: a, type: Linear, inputs: 784}, {name: b, type: Linear, inputs: [128, 0]}]',
      ['a > b'],
    ],
    [
      'inputs that are nowhere',
      'layers: [{name: a, type: x, inputs: [image]}, {name: b, type: x, inputs: nowhere}]',
      [],
    ],
    ['recurrent', 'layers: [{name: a, type: x, inputs: b}, {name: b, type: x}]', ['b > a', 'a > b']],
    [
      'Hydra targets',
      'network: {layers: [{_target_: torch.nn.Linear}, {_target_: torch.nn.ReLU}]}',
      ['0 > 1'],
    ],
  ])('%s', (_, text, expected) => {
    const graph = graphOf(text);
    expect(graph.kind).toBe('layers');
    expect(arrows(graph)).toEqual(expected);
  });

  test.each([
    ['layers: 12'],
    ['model: {layers: [64, 32]}'],
    ['freeze: {x: 1}\nlayers: [fc1, fc2]'],
    ['layers: {enc: 3, dec: 4}'],
    ['layers: []'],
  ])('%s: no layers', (text) => {
    expect(graphOf(text).kind).toBe('structure');
  });
});
