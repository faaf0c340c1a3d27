import { describe, expect, test } from 'vitest';
import { raiseOpset } from '../../../../../shared/onnx/methods/opset/raise-opset.ts';
import { makeNode } from '../../../../../shared/onnx/model/graph/graph.ts';
import { valueInfoOf } from '../../../../../shared/onnx/model/graph/value-info.ts';
import { inferValues } from '../../../../../shared/onnx/model/infer/infer-values.ts';
import { microsoftTypes } from '../../../../../shared/onnx/model/infer/microsoft-types.ts';
import { isInOpset, isPublished } from '../../../../../shared/onnx/model/infer/operator-schema.ts';
import { operatorTypes } from '../../../../../shared/onnx/model/infer/operator-types.ts';
import { type DataTypeName, dataTypes } from '../../../../../shared/onnx/model/tensor/data-type.ts';
import { smallModel } from '../../../../support/onnx/small-model.ts';

interface Published {
  domain: string;
  operator: string;
  version: number;
  inputs: string[];
  outputs: string[];
}

const listOf = (text = ''): string[] => (text === '' ? [] : text.split(','));

/** What is published of each operator in each version that differs. */
const published = [operatorTypes, microsoftTypes]
  .flatMap((types) => types.trim().split('\n'))
  .map((line): Published => {
    const [domain = '', operator = '', version = '', text = ''] = line.split(':');
    const [inputs, outputs] = text.split('>');
    return {
      ...{ domain, operator, version: Number(version) },
      ...{ inputs: listOf(inputs), outputs: listOf(outputs) },
    };
  });

const bare = (parameter: string): string => parameter.replace(/[*!@].*$/, '');
const isType = (name: string): name is DataTypeName => Object.hasOwn(dataTypes, name);

/** Attributes that name the type of an output, each float32. */
const namedTypes = (outputs: readonly string[]): Record<string, number> =>
  Object.fromEntries(
    outputs.flatMap((one) => [...one.matchAll(/@([^=]+)/g)].map(([, name = '']) => [name, 1])),
  );

/** Outputs of which nothing is known, of an operator whose inputs have the types that are published, or float32. */
function unknownOf({ domain, operator, version, inputs, outputs }: Published): string[] {
  const inputNames = inputs.map((_, at) => `x${at}`);
  const outputNames = outputs.map((_, at) => `y${at}`);
  const model = smallModel({
    nodes: [makeNode(operator, inputNames, outputNames, { domain, attributes: namedTypes(outputs) })],
    constants: [],
    inputs: {},
    outputs: {},
    ...(domain === '' ? { opset: version } : { domains: { [domain]: version } }),
  });
  model.graph.proto.input = inputs.flatMap((one, at) => {
    const name = bare(one);
    if (name === '-') return [];
    return [valueInfoOf({ name: `x${at}`, type: isType(name) ? name : 'float', dims: [2, 2] })];
  });
  const values = inferValues(model);
  return outputs.flatMap((one, at) =>
    bare(one) === '-' || values.has(`y${at}`) ? [] : [outputNames[at] ?? ''],
  );
}

/** Operators that make a type which neither their inputs nor their attributes tell: float16 leaves what takes it as it is. */
const untold = new Set([
  // Of a value, a body or a compiled model that they hold.
  ...[':Constant', ':If', ':Loop', ':Scan', 'com.microsoft:EPContext'],
  // Of sequences, maps and what they hold.
  ...[':ConcatFromSequence', ':SequenceAt', ':SequenceConstruct', ':SplitToSequence'],
  ...[':Optional', ':OptionalGetElement', 'ai.onnx.ml:DictVectorizer', 'ai.onnx.ml:ZipMap'],
  ...['Adagrad', 'Adam', 'Gradient', 'Momentum'].map((name) => `ai.onnx.preview.training:${name}`),
  // Their published types leave it open.
  ...['DecoderMaskedMultiHeadAttention', 'MultiHeadAttention', 'RMSNormRotary'].map(
    (name) => `com.microsoft:${name}`,
  ),
]);

describe('of every operator that ONNX and ONNX Runtime publish', () => {
  test('the types of what it makes follow from what it takes, but for a few that stay as they are', () => {
    const unknown = published
      .filter(({ outputs }) => outputs.length > 0)
      .filter((one) => unknownOf(one).length > 0)
      .map(({ domain, operator }) => `${domain}:${operator}`);
    expect([...new Set(unknown)].filter((name) => !untold.has(name))).toEqual([]);
    expect([...untold].filter((name) => !unknown.includes(name))).toEqual([]);
  });

  test('the table has those of ONNX Runtime in the domain of ONNX, until they were taken out', () => {
    const own = ['Affine', 'Crop', 'ImageScaler', 'ParametricSoftplus', 'Scale', 'ScaledTanh'];
    expect(own.filter((name) => !isPublished(name) || !isInOpset(name, 9) || isInOpset(name, 10))).toEqual(
      [],
    );
    expect(isInOpset('SimplifiedLayerNormalization', 17)).toBe(true);
    expect(new Set(published.map(({ domain, operator }) => `${domain}:${operator}`)).size).toBeGreaterThan(
      390,
    );
  });

  test.each([
    [{}, 'string'],
    [{ values_floats: { floats: [0.5] } }, 'float'],
    [{ values_int64s: [3] }, 'int64'],
  ])('a LabelEncoder of numbers with %o makes %s', (attributes, type) => {
    const model = smallModel({
      nodes: [makeNode('LabelEncoder', ['x'], ['y'], { domain: 'ai.onnx.ml', attributes })],
      constants: [],
      inputs: { x: [2] },
      outputs: {},
      domains: { 'ai.onnx.ml': 3 },
    });
    expect(inferValues(model).get('y')?.type).toBe(type);
  });

  test('a model with one that was taken out is not raised beyond it', () => {
    const model = smallModel({
      nodes: [makeNode('ScaledTanh', ['x'], ['y'], { name: 'squash' })],
      constants: [],
      inputs: { x: [2] },
      outputs: { y: [2] },
      opset: 9,
    });
    expect(() => raiseOpset(model, 13)).toThrow('ScaledTanh "squash" is not a published ONNX operator');
  });
});
