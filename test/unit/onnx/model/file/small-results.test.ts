import { create } from '@bufbuild/protobuf';
import { describe, expect, test } from 'vitest';
import { dropNodeMetadata } from '../../../../../shared/onnx/model/graph/drop-node-metadata.ts';
import { makeNode, Names } from '../../../../../shared/onnx/model/graph/graph.ts';
import {
  NodeProtoSchema,
  StringStringEntryProtoSchema,
} from '../../../../../shared/onnx/model/proto/onnx_pb.js';
import { integerMessage, tensorHeader } from '../../../../../shared/onnx/model/tensor/read-tensor.ts';
import { makeTensor } from '../../../../../shared/onnx/model/tensor/tensor.ts';
import { copyOf, savedBytes, smallModel } from '../../../../support/onnx/small-model.ts';

const relu = () =>
  smallModel({
    nodes: [makeNode('Relu', ['x'], ['y'])],
    constants: [],
    inputs: { x: [2] },
    outputs: { y: [2] },
  });

describe('a saved model', () => {
  test('takes no more bytes when it is loaded and saved again', () => {
    const model = relu();
    // Exporters write no domain where makeNode writes an empty one.
    model.graph.nodes = [create(NodeProtoSchema, { opType: 'Relu', input: ['x'], output: ['y'] })];
    const bytes = savedBytes(model).length;

    expect(savedBytes(copyOf(model)).length).toBe(bytes);
  });

  test('has no documentation and metadata of its nodes, but that of the model', () => {
    const model = relu();
    const entry = create(StringStringEntryProtoSchema, { key: 'trace', value: '/home/ada/net.py' });
    for (const node of model.graph.nodes) {
      node.docString = 'line 7';
      node.metadataProps = [entry];
    }
    model.proto.metadataProps = [entry];

    dropNodeMetadata(model.graph);
    const saved = copyOf(model);

    expect(saved.graph.nodes.map(({ docString, metadataProps }) => [docString, metadataProps])).toEqual([
      ['', []],
    ]);
    expect(saved.proto.metadataProps.map(({ value }) => value)).toEqual(['/home/ada/net.py']);
  });

  test('has no more bytes than what it was read from', () => {
    const source = savedBytes(relu());

    const copy = copyOf(relu());
    dropNodeMetadata(copy.graph);
    const again = savedBytes(copy);

    expect(again.length).toBe(source.length);
    // An empty documentation takes two bytes at each node and value: field 6 of a node, 3 of a value.
    expect(Buffer.from(again).includes(Buffer.from([0x32, 0]))).toBe(false);
  });

  test('stores integers in the form with fewer bytes, to the last digit', () => {
    const values = BigInt64Array.of(0n, 3n, 224n, 9223372036854775807n, -1n, 1n, 1n, 2n);
    const shape = makeTensor('shape', 'int64', [8], values);
    const negative = makeTensor('negative', 'int32', [2], Int32Array.of(-1, -2));
    const constants = [shape, negative];
    const ends = constants.map(({ name }) => makeNode('Identity', [name], [`${name}_out`]));
    const model = smallModel({
      nodes: ends,
      constants,
      inputs: {},
      outputs: { shape_out: [8], negative_out: [2] },
    });

    const saved = copyOf(model);

    expect(integerMessage(shape)?.length).toBeLessThan(tensorHeader(shape).length + 64 - 25);
    expect(integerMessage(negative)).toBeUndefined();
    for (const { name, bytes } of constants)
      expect([...(saved.graph.initializer(name)?.bytes() ?? [])]).toEqual([...bytes()]);
  });

  test('has short names where new ones would be derived from long ones', () => {
    const names = new Names(relu().graph);

    const made = [names.make('y'), names.make('w_scale'), names.make(`${'block/'.repeat(40)}_scale`)];

    expect(made).toEqual(['y_2', 'w_scale', 'q1']);
    expect(names.make('q1')).toBe('q1_2');
    expect(names.make('z'.repeat(33))).toBe('q2');
  });
});
