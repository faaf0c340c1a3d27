import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { optimizeModel } from '../../../shared/onnx/engine/optimize/optimize-model.ts';
import { parseRequest } from '../../../shared/onnx/methods/apply/parse-request.ts';
import type { Model } from '../../../shared/onnx/model/file/model.ts';
import { saveModel } from '../../../shared/onnx/model/file/save-model.ts';
import { makeNode } from '../../../shared/onnx/model/graph/graph.ts';
import { valueInfoOf } from '../../../shared/onnx/model/graph/value-info.ts';
import { ModelError } from '../../../shared/onnx/model/model-error.ts';
import { makeTensor } from '../../../shared/onnx/model/tensor/tensor.ts';
import { smallModel } from '../../support/onnx/small-model.ts';
import { smallNetwork } from '../../support/onnx/small-network.ts';
import { stageCommand, testFolder } from '../../support/onnx/stage-program.ts';
import { sampled } from '../../support/samples.ts';

/** How an optimization ends, and the stages that it came to. Where a structure rules out what is asked, no session is run. */
async function refusal(model: Model, request: Record<string, unknown>, memoryBytes = 2 ** 31) {
  const folder = await testFolder();
  const [source, work] = [join(folder, 'model'), join(folder, 'work')];
  for (const one of [source, work]) mkdirSync(one);
  saveModel(model, source);
  const stages = new Set<string>();
  const fault = await optimizeModel({
    request: parseRequest(request),
    model: join(source, 'model.onnx'),
    folder: work,
    stageCommand: stageCommand(),
    limits: { memoryBytes },
    say: () => {},
    progress: (stage) => stages.add(stage),
    signal: new AbortController().signal,
  }).then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(fault).toBeInstanceOf(ModelError);
  return { said: fault instanceof Error ? fault.message : '', stages: [...stages] };
}

const quantize = { operation: 'quantize', precision: 8 };
const prune = { operation: 'prune', compression: 2 };
const staticMethod = { ...quantize, strategy: 'static_minmax' };

/** A product that ONNX Runtime would refuse to load, were it asked: an operator before it does not exist. */
const unloadable = (opset: number): Model =>
  smallModel({
    nodes: [makeNode('Nonsense', ['x'], ['n']), makeNode('MatMul', ['n', 'w'], ['y'], { name: 'product' })],
    constants: [makeTensor('w', 'float', [4, 4], new Float32Array(16).fill(0.5))],
    inputs: { x: [1, 4] },
    outputs: { y: [1, 4] },
    opset,
  });

/** The same without a weight. */
const weightless = (): Model =>
  smallModel({
    nodes: [makeNode('Nonsense', ['x'], ['n']), makeNode('Relu', ['n'], ['y'])],
    constants: [],
    inputs: { x: [1, 4] },
    outputs: { y: [1, 4] },
  });

describe('what the structure rules out is refused before any session', () => {
  test.each(
    sampled(
      [
        [{ ...staticMethod, exclude: ['frist', 'Conv'] }],
        [{ ...quantize, strategy: 'dynamic', exclude: ['frist', 'Conv'] }],
        [{ ...quantize, strategy: 'weight_only', exclude: ['frist', 'Conv'] }],
        [{ operation: 'quantize', precision: 16, strategy: 'float16', exclude: ['frist', 'Conv'] }],
        [{ ...prune, strategy: 'magnitude_global', exclude: ['frist', 'Conv'] }],
        [{ ...prune, strategy: 'structured_l1', exclude: ['frist', 'Conv'] }],
      ],
      6,
    ),
  )('a name that the model does not have: %o', async (request) => {
    const { said, stages } = await refusal(smallNetwork(), request);
    expect(said).toMatch(/^exclude has unknown names: "frist" \(did you mean "first"\?\)\. /);
    expect(stages).toEqual(['read']);
  });

  test.each(
    sampled(
      [
        [staticMethod, 9, 'static_minmax needs opset 10 or higher; the model has 9.'],
        [{ ...quantize, strategy: 'static_entropy' }, 8, 'static_entropy needs opset 10'],
        [{ ...quantize, strategy: 'dynamic' }, 10, 'dynamic needs opset 11 or higher; the model has 10.'],
      ],
      3,
    ),
  )('an operator set that is too old: %o at %i', async (request, opset, message) => {
    const { said, stages } = await refusal(unloadable(opset), request);
    expect(said).toContain(message);
    expect(stages).toEqual(['read']);
  });

  test.each(
    sampled(
      [
        [staticMethod, 'Static methods have nothing to quantize', 'calibrate'],
        [{ ...quantize, strategy: 'dynamic' }, 'dynamic has nothing to quantize', 'transform'],
        [{ ...quantize, strategy: 'weight_only' }, 'that can be quantized in blocks', 'transform'],
        [
          { ...prune, strategy: 'magnitude_local' },
          'no prunable weight of a Conv, Gemm or MatMul',
          'transform',
        ],
        [{ ...prune, strategy: 'n_m_2_4' }, 'multiple of 4 input channels', 'transform'],
        [{ ...prune, strategy: 'random' }, 'no channels that can be removed', 'transform'],
      ],
      3,
    ),
  )('nothing to do: %o', async (request, message, stage) => {
    const { said, stages } = await refusal(weightless(), request);
    expect(said).toContain(message);
    expect(stages).toEqual(['read', stage]);
  });

  test('nothing that half precision could hold', async () => {
    const request = { operation: 'quantize', precision: 16, strategy: 'float16' };
    const { said, stages } = await refusal(weightless(), request);
    expect(said).toContain('float16 has nothing to convert');
    expect(said).toContain('the type of "n" is unknown');
    expect(stages).toEqual(['read', 'transform']);
  });

  test('inputs that cannot be fed', async () => {
    const strings = unloadable(17);
    strings.graph.proto.input.push(valueInfoOf({ name: 'words', type: 'string', dims: [1] }));
    const rankless = unloadable(17);
    rankless.graph.proto.input.push(valueInfoOf({ name: 'any', type: 'float', dims: undefined }));
    const dynamic = { ...quantize, strategy: 'dynamic' };
    expect(await refusal(strings, staticMethod)).toEqual({
      said: 'The input "words" takes texts, which are not generated; give a calibration set with an array of them.',
      stages: ['read'],
    });
    // A method without data needs no run.
    expect((await refusal(strings, dynamic)).stages).toContain('transform');
    for (const request of [staticMethod, dynamic]) {
      expect(await refusal(rankless, request)).toMatchObject({
        said: expect.stringContaining('The input "any" has an unknown number of dimensions'),
        stages: ['read'],
      });
    }
  });

  test('outputs that cannot be compared', async () => {
    const model = smallModel({
      nodes: [makeNode('MatMul', ['x', 'w'], ['m']), makeNode('SequenceConstruct', ['m'], ['y'])],
      constants: [makeTensor('w', 'float', [4, 4], new Float32Array(16).fill(0.5))],
      inputs: { x: [1, 4] },
      outputs: { y: [] },
    });
    const [output] = model.graph.proto.output;
    if (output?.type?.value.case !== 'tensorType') throw new Error('an output of another kind');
    output.type.value = {
      case: 'sequenceType',
      value: { $typeName: 'onnx.TypeProto.Sequence', elemType: { ...output.type } },
    };
    const { said, stages } = await refusal(model, staticMethod);
    expect(said).toBe('No output of the model is a tensor.');
    expect(stages).toEqual(['read']);
  });

  test.each(
    sampled(
      [
        ['static_minmax', staticMethod],
        ['max_error', { ...quantize, strategy: 'weight_only', max_error: 1 }],
        ['mean_bits', { ...quantize, strategy: 'weight_only', precision: 4, mean_bits: 5 }],
        ['auto', { ...quantize, strategy: 'auto', max_loss: 0.1 }],
      ],
      2,
    ),
  )('sessions of %s for which there is no room', async (name, request) => {
    const little = 350 * 2 ** 20;
    expect(await refusal(smallNetwork(), request, little)).toEqual({
      said: `${name} requires running the model, which is too large for this machine.`,
      stages: ['read'],
    });
  });
});

describe('a result that is of no use is not written', () => {
  const half = { operation: 'quantize', precision: 16, strategy: 'float16' };

  test('one with infinity where the model has numbers, though nothing is measured', async () => {
    const model = smallModel({
      nodes: [
        makeNode('MatMul', ['x', 'w'], ['a'], { name: 'vanishing' }),
        makeNode('Abs', ['a'], ['b'], { name: 'size' }),
        makeNode('Log', ['b'], ['y'], { name: 'logarithm' }),
      ],
      // Three of four columns have no number in half precision; were it all of them, the product would stay in float32.
      constants: [
        makeTensor(
          'w',
          'float',
          [16, 4],
          Float32Array.from({ length: 64 }, (_, at) => (at % 4 === 0 ? 1 : 1e-9)),
        ),
      ],
      inputs: { x: [1, 16] },
      outputs: { y: [1, 4] },
    });

    const measured = await refusal(model, half);
    const unmeasured = await refusal(model, { ...half, measure: 'none' });

    expect(measured.said).toContain(
      'The result returns NaN or infinity for finite outputs of the model, on 8 generated inputs: of "y", 21 of its finite values became',
    );
    expect(unmeasured.said).toBe(measured.said);
  });

  test('one that ONNX Runtime cannot load, though nothing is measured', async () => {
    const { said } = await refusal(unloadable(17), { ...half, measure: 'none' });
    expect(said).toContain('ONNX Runtime cannot load the result');
  });
});
