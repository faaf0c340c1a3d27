import { create } from '@bufbuild/protobuf';
import { describe, expect, test } from 'vitest';
import { syntheticFeeds } from '../../../../../shared/onnx/measure/session/synthetic.ts';
import { feedPlan } from '../../../../../shared/onnx/measure/verify/feed-plan.ts';
import { Model } from '../../../../../shared/onnx/model/file/model.ts';
import { Graph, makeNode } from '../../../../../shared/onnx/model/graph/graph.ts';
import { type Dim, valueInfoOf } from '../../../../../shared/onnx/model/graph/value-info.ts';
import { GraphProtoSchema, ModelProtoSchema } from '../../../../../shared/onnx/model/proto/onnx_pb.js';
import type { DataTypeName } from '../../../../../shared/onnx/model/tensor/data-type.ts';
import { ExternalData } from '../../../../../shared/onnx/model/tensor/external-data.ts';
import { makeTensor } from '../../../../../shared/onnx/model/tensor/tensor.ts';

type Input = readonly [name: string, type: DataTypeName, dims: readonly Dim[] | undefined];

function model(inputs: readonly Input[]): Model {
  const external = new ExternalData('.');
  const nodes = [
    makeNode('Cast', ['ids'], ['wide'], { attributes: { to: 7 } }),
    makeNode('Gather', ['table', 'wide'], ['rows'], { attributes: { axis: 0 } }),
  ];
  const infos = inputs.map(([name, type, dims]) => valueInfoOf({ name, type, dims }));
  const graph = new Graph(create(GraphProtoSchema, { node: nodes, input: infos }), external);
  graph.put(makeTensor('table', 'float', [5, 2], new Float32Array(10)));
  return new Model(create(ModelProtoSchema), graph, external);
}

describe('what a model is fed with where there is no set', () => {
  const inputs: Input[] = [
    ['x', 'float', ['batch', 3, 'length', null]],
    ['ids', 'int32', ['batch', 'length']],
    ['attention_mask', 'int64', ['batch', 'length']],
    ['count', 'int64', []],
  ];

  test('1 for the first axis and 16 elsewhere, one name standing for one size', () => {
    expect(feedPlan(model(inputs), {}).map(({ name, dims }) => [name, dims])).toEqual([
      ['x', [1, 3, 16, 16]],
      ['ids', [1, 16]],
      ['attention_mask', [1, 16]],
      ['count', []],
    ]);
  });

  test('what was asked for, also where another input names the size', () => {
    const plan = feedPlan(model(inputs), { ids: [2, 7] });
    expect(plan.map(({ dims }) => dims)).toEqual([[2, 3, 7, 16], [2, 7], [2, 7], []]);
  });

  test('indices within the table that they look up, ones for masks and unknown integers', () => {
    const feeds = syntheticFeeds(feedPlan(model(inputs), {}), 3);
    const ids = Array.from(feeds.get('ids')!.values, Number);
    expect(Math.max(...ids)).toBeLessThan(5);
    expect(new Set(ids).size).toBeGreaterThan(2);
    expect(new Set(Array.from(feeds.get('attention_mask')!.values, Number))).toEqual(new Set([1]));
    expect(Array.from(feeds.get('count')!.values, Number)).toEqual([1]);
  });

  test('the same for the same seed', () => {
    const plan = feedPlan(model(inputs), {});
    expect(syntheticFeeds(plan, 3)).toEqual(syntheticFeeds(plan, 3));
    expect(syntheticFeeds(plan, 3)).not.toEqual(syntheticFeeds(plan, 4));
  });

  test('an open rank asks for a calibration set', () => {
    const plan = feedPlan(model([['x', 'float', undefined]]), {});
    expect(() => syntheticFeeds(plan, 0)).toThrow(
      'The input "x" has an unknown number of dimensions; give a calibration set, which determines it.',
    );
    expect(feedPlan(model([['x', 'float', undefined]]), { x: [2, null] })[0]?.dims).toEqual([2, 16]);
  });

  test('text is refused', () => {
    expect(() => syntheticFeeds(feedPlan(model([['x', 'string', [1]]]), {}), 0)).toThrow(
      'The input "x" takes texts, which are not generated; give a calibration set with an array of them.',
    );
  });
});
