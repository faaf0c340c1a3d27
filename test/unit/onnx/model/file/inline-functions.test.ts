import { create } from '@bufbuild/protobuf';
import { describe, expect, test } from 'vitest';
import { inlineFunctions } from '../../../../../shared/onnx/model/file/inline-functions.ts';
import { makeNode } from '../../../../../shared/onnx/model/graph/graph.ts';
import {
  AttributeProto_AttributeType,
  FunctionProtoSchema,
  GraphProtoSchema,
  ModelProtoSchema,
} from '../../../../../shared/onnx/model/proto/onnx_pb.js';

const opset = { domain: '', version: 17n };

/** A model that calls `Twice`, which calls `Step`, whose slope is an attribute with a default. */
function callingModel(stepCalls = 'LeakyRelu') {
  const step = makeNode(stepCalls, ['a'], ['b'], { domain: stepCalls === 'LeakyRelu' ? '' : 'own' });
  if (stepCalls === 'LeakyRelu')
    step.attribute.push(
      create(FunctionProtoSchema, {
        attributeProto: [{ name: 'alpha', refAttrName: 'slope', type: AttributeProto_AttributeType.FLOAT }],
      }).attributeProto[0] as (typeof step.attribute)[number],
    );
  const function_ = (name: string, nodes: (typeof step)[], output: string) =>
    create(FunctionProtoSchema, {
      ...{ name, domain: 'own', input: ['a'], output: [output], node: nodes, opsetImport: [opset] },
      attributeProto: [{ name: 'slope', type: AttributeProto_AttributeType.FLOAT, f: 0.25 }],
    });
  const twice = [
    makeNode('Step', ['a'], ['t'], { domain: 'own' }),
    makeNode('Step', ['t'], ['u'], { domain: 'own' }),
  ];
  return create(ModelProtoSchema, {
    irVersion: 8n,
    opsetImport: [opset, { domain: 'own', version: 1n }],
    functions: [function_('Twice', twice, 'u'), function_('Step', [step], 'b')],
    graph: create(GraphProtoSchema, {
      input: [{ name: 'x' }],
      node: [
        makeNode('Twice', ['x'], ['t'], { domain: 'own' }),
        makeNode('Twice', ['t'], ['y'], { domain: 'own' }),
      ],
      output: [{ name: 'y' }],
    }),
  });
}

describe('functions of a model', () => {
  test('are replaced by their nodes, with the names and attributes of each call', () => {
    const model = callingModel();

    inlineFunctions(model);

    const nodes = model.graph?.node ?? [];
    expect(nodes.map(({ opType }) => opType)).toEqual(new Array(4).fill('LeakyRelu'));
    expect(nodes.map(({ attribute }) => attribute.map(({ name, f }) => [name, f]))).toEqual(
      new Array(4).fill([['alpha', 0.25]]),
    );
    expect(nodes[0]?.input).toEqual(['x']);
    expect(nodes.slice(1).map(({ input }) => input)).toEqual(nodes.slice(0, 3).map(({ output }) => output));
    expect(nodes[3]?.output).toEqual(['y']);
    expect(new Set(nodes.flatMap(({ output }) => output)).size).toBe(4);
  });

  test('are refused if they call themselves', () => {
    const model = callingModel('Twice');

    const inline = () => inlineFunctions(model);

    expect(inline).toThrow(/call one another deeper than 32 levels/);
  });

  test('are refused if they need another operator set than the model', () => {
    const model = callingModel();
    model.opsetImport = [{ ...opset, version: 18n } as (typeof model.opsetImport)[number]];

    const inline = () => inlineFunctions(model);

    expect(inline).toThrow(/is written in opset 17 of "ai.onnx", the model in 18/);
  });
});
