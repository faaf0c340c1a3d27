import { create } from '@bufbuild/protobuf';
import { describe, expect, test } from 'vitest';
import { inlineFunctions } from '../../../../../shared/onnx/model/file/inline-functions.ts';
import { makeNode } from '../../../../../shared/onnx/model/graph/graph.ts';
import {
  AttributeProto_AttributeType,
  FunctionProtoSchema,
  GraphProtoSchema,
  ModelProtoSchema,
  NodeProtoSchema,
  OperatorSetIdProtoSchema,
} from '../../../../../shared/onnx/model/proto/onnx_pb.js';
import { ExternalData } from '../../../../../shared/onnx/model/tensor/external-data.ts';
import { readTensor, tensorMessage } from '../../../../../shared/onnx/model/tensor/read-tensor.ts';
import { makeTensor } from '../../../../../shared/onnx/model/tensor/tensor.ts';

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

  test('keep attributes readable that the call did not set', () => {
    const model = callingModel();

    inlineFunctions(model);

    const [attribute] = model.graph?.node[0]?.attribute ?? [];
    expect(attribute?.s.length).toBe(0);
  });

  test('keep the constants of their bodies', () => {
    const model = callingModel();
    const body = create(GraphProtoSchema, {
      initializer: [tensorMessage(makeTensor('w', 'float', [1], new Float32Array([2])))],
      node: [makeNode('Mul', ['a', 'w'], ['m'])],
      output: [{ name: 'm' }],
    });
    const choice = makeNode('If', ['a'], ['u']);
    choice.attribute = create(NodeProtoSchema, {
      attribute: [{ name: 'then_branch', type: AttributeProto_AttributeType.GRAPH, g: body }],
    }).attribute;
    for (const one of model.functions) if (one.name === 'Twice') one.node = [choice];

    inlineFunctions(model);

    const inlined = model.graph?.node[0]?.attribute[0]?.g;
    const constants = inlined?.initializer.map((message) => readTensor(message, new ExternalData('.')));
    expect(constants?.map(({ name }) => name)).toEqual(['inlined_1_w']);
    expect(inlined?.node[0]?.input).toEqual(['x', 'inlined_1_w']);
  });

  test('need no operator set of a function that nobody calls', () => {
    const model = callingModel();
    for (const node of model.graph?.node ?? []) {
      node.domain = '';
      node.opType = 'Relu';
    }
    model.opsetImport = [create(OperatorSetIdProtoSchema, { domain: '', version: 18n })];

    inlineFunctions(model);

    expect(model.functions).toEqual([]);
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
