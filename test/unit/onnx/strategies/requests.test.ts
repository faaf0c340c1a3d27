import { describe, expect, test } from 'vitest';
import {
  checkPruning,
  pruneSchemas,
  storedRequest,
} from '../../../../shared/onnx/strategies/prune-request.ts';
import { pruneStrategyNames } from '../../../../shared/onnx/strategies/prune-strategies.ts';
import { checkQuantization, quantizeSchemas } from '../../../../shared/onnx/strategies/quantize-request.ts';

const faults = (judged: ReturnType<typeof checkPruning> | ReturnType<typeof checkQuantization>) =>
  'faults' in judged ? judged.faults.map(({ name }) => name) : [];

test('a record of an earlier release removes the same part of each layer', () => {
  const old = {
    operation: 'prune',
    strategy: 'random',
    compression: 2,
    exclude: [],
    max_error: null,
    seed: 0,
  };
  expect(storedRequest().parse(old)).toEqual({
    ...old,
    measure: 'full',
    keep_metadata: false,
    allocation: 'uniform',
    max_loss: null,
    goal: 'size',
  });
});

describe('a pruning', () => {
  test.each(pruneStrategyNames)('by %s has its defaults', (strategy) => {
    const compression = strategy.endsWith('2_4') ? 2 : 1;
    const allocation = strategy === 'structured_reconstruct' ? 'sensitivity' : 'uniform';
    const common = {
      operation: 'prune',
      exclude: [],
      seed: 0,
      max_error: null,
      measure: 'quick',
      keep_metadata: false,
    };
    const max_loss = strategy === 'auto' ? 0.01 : null;
    expect(checkPruning({ strategy, compression })).toEqual({
      request: { ...common, strategy, compression, allocation, max_loss, goal: 'size' },
    });
  });

  test.each([
    [{ strategy: 'n_m_2_4' }, ['compression']],
    [{ strategy: 'n_m_2_4', compression: 1 }, ['compression']],
    [{ strategy: 'random', allocation: 'sensitivity' }, ['allocation']],
    [{ strategy: 'structured_reconstruct', allocation: 'even' }, ['allocation']],
    [{ strategy: 'optimize', compression: 2 }, ['compression']],
    [{ strategy: 'auto', compression: 2, max_error: 0.1 }, ['compression', 'max_error']],
    [{ strategy: 'random', max_loss: 0.1, goal: 'latency' }, ['max_loss', 'goal']],
    [{ strategy: 'random', compression: 1.5, seed: 2 ** 32 }, ['compression', 'seed']],
    [{ strategy: 'random', exclude: [''], max_error: -1, more: 1 }, ['exclude', 'max_error', 'more']],
    [{ strategy: 'L1', compression: 0 }, ['strategy', 'compression']],
    [{}, ['strategy']],
  ])('of %o is refused', (values, names) => {
    expect(faults(checkPruning(values))).toEqual(names);
  });
});

describe('a quantization', () => {
  test.each([
    [
      { strategy: 'dynamic', precision: 8 },
      { quant_type: 'int8', per_channel: true },
    ],
    [
      { strategy: 'static_minmax', precision: 8 },
      { quant_type: 'uint8', per_channel: true },
    ],
    [{ strategy: 'static_entropy', precision: 8, quant_type: 'uint8' }, { quant_type: 'uint8' }],
    [
      { strategy: 'weight_only', precision: 4 },
      { quant_type: 'int4', per_channel: false },
    ],
    [
      { strategy: 'weight_only', precision: 8, leaf_node: true },
      { quant_type: 'int8', leaf_node: true },
    ],
    [
      { strategy: 'float16', precision: 16 },
      { quant_type: 'float16', leaf_node: false },
    ],
    [{ strategy: 'dynamic', precision: 8, include: ['Conv'] }, { include: ['Conv'] }],
  ])('of %o has its defaults', (values, expected) => {
    const common = { operation: 'quantize', exclude: [], reduce_range: false, max_error: null, seed: 0 };
    expect(checkQuantization(values)).toMatchObject({ request: { ...common, ...values, ...expected } });
  });

  test.each([
    [{ strategy: 'float16', precision: 16, leaf_node: true, include: ['Conv'] }, ['leaf_node', 'include']],
    [{ strategy: 'weight_only', precision: 4, quant_type: 'uint8' }, ['quant_type']],
    [{ strategy: 'weight_only', precision: 5, quant_type: 'uint8' }, ['precision']],
    [{ strategy: 'weight_only', precision: 5, quant_type: 'float16' }, ['precision', 'quant_type']],
    [{ strategy: 'weight_only', quant_type: 'uint4' }, ['precision']],
    [
      { strategy: 'weight_only', precision: 8, per_channel: true, reduce_range: true },
      ['per_channel', 'reduce_range'],
    ],
    [{ strategy: 'dynamic', precision: 8, include: ['Conv', 'Conv'] }, ['include']],
    [{ precision: 8 }, ['strategy']],
    [{}, ['strategy', 'precision']],
    [
      { strategy: 'statik', precision: 9, quant_type: 'int3', seed: -1, max_error: 0, per_channel: true },
      ['strategy', 'precision', 'quant_type', 'max_error', 'seed'],
    ],
  ])('of %o is refused', (values, names) => {
    expect(faults(checkQuantization(values))).toEqual(names);
  });

  test('of 16 bits by calibration is for later, and says so', () => {
    const judged = checkQuantization({ strategy: 'static_percentile', precision: 16 });
    expect(judged).toEqual({
      faults: [
        { name: 'precision', message: 'must be 8 with static_percentile; 16 bits are not offered yet' },
      ],
    });
  });
});

test('every method says what it means', () => {
  for (const method of [...pruneSchemas(), ...quantizeSchemas()])
    expect(method.description).toMatch(/^\p{Lu}.*\.$/u);
});

test('the processor that a result is made for chooses types and range, where they are not given', () => {
  const asked = (values: Readonly<Record<string, unknown>>) =>
    checkQuantization({ precision: 8, strategy: 'static_minmax', ...values });
  const chosen = (quant_type: string, reduce_range: boolean) => ({ request: { quant_type, reduce_range } });
  expect(asked({})).toMatchObject(chosen('uint8', false));
  expect(asked({ for: 'x86-64-v2' })).toMatchObject(chosen('uint8', true));
  expect(asked({ for: 'avx2' })).toMatchObject(chosen('uint8', true));
  expect(asked({ for: 'avx512-vnni' })).toMatchObject(chosen('uint8', false));
  expect(asked({ for: 'arm64-dotprod' })).toMatchObject(chosen('int8', false));
  expect(asked({ for: 'avx2', strategy: 'dynamic' })).toMatchObject(chosen('int8', true));
  expect(asked({ for: 'avx2', reduce_range: false })).toMatchObject(chosen('uint8', false));
  // What takes neither is left as it is.
  expect(asked({ for: 'avx2', strategy: 'weight_only' })).toMatchObject({ request: { reduce_range: false } });
  expect(asked({ for: 'sse2' })).toEqual({
    faults: [
      { name: 'for', message: expect.stringMatching(/^must be one of any, x86-64-v2, .*lambda, .*apple-m2/) },
    ],
  });
});
