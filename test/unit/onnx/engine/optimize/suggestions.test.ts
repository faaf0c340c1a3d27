import { expect, test } from 'vitest';
import { lossOf } from '../../../../../shared/onnx/engine/optimize/run-trial.ts';
import {
  agreementLine,
  remediesFor,
  suggestionsFor,
} from '../../../../../shared/onnx/engine/optimize/suggestions.ts';
import { parseRequest } from '../../../../../shared/onnx/methods/apply/parse-request.ts';

const output = { name: 'y', relative_l2_error: 0.3, largest_difference: 1, values: 4, why: null };
const data = { source: 'evaluation' as const, samples: 9, shapes: {} };
const outcome = {
  request: parseRequest({ operation: 'quantize', strategy: 'dynamic', precision: 8 }),
  hasCalibration: false,
  hasEvaluation: false,
  operators: { MatMul: 3 },
  opset: 17,
  layers: ['a', 'b', 'c', 'd', 'e'].map((layer, at) => ({ layer, operator: 'MatMul', error: at / 10 })),
  compare: { outputs: [output], accuracy: null, agreement: null, data },
  latency: null,
};

test('what to try next follows from what was lost', () => {
  expect(suggestionsFor(outcome)[0]).toMatch(/^smooth_alpha=0.7 and a calibration set/);
  const kept = {
    outputs: [output],
    accuracy: { before: 0.9, after: 0.9, samples: 9, output: 'y', difference_interval: null },
    agreement: null,
    data,
  };
  expect(suggestionsFor({ ...outcome, compare: kept, hasEvaluation: true })).toEqual([]);
  expect(suggestionsFor({ ...outcome, compare: null })).toEqual([]);
  const four = parseRequest({ operation: 'quantize', strategy: 'weight_only', precision: 4 });
  expect(suggestionsFor({ ...outcome, request: four, hasCalibration: true })[0]).toMatch(/^strategy=gptq:/);
  const fixed = { operation: 'quantize', strategy: 'static_minmax', precision: 8 };
  const said = (more: object) =>
    suggestionsFor({ ...outcome, request: parseRequest({ ...fixed, ...more }) }).map(
      (one) => one.split('=')[0],
    );
  expect(said({})).toEqual(expect.arrayContaining(['inputs_only', 'max_error']));
  expect(said({ max_error: 0.1 })).not.toContain('max_error');
});

test('a pruning that keeps all weights says so, and one whose strategy has no compression does not', () => {
  const pruned = (more: object) =>
    suggestionsFor({ ...outcome, request: parseRequest({ operation: 'prune', ...more }) });
  expect(pruned({ strategy: 'magnitude_global' })).toContainEqual(expect.stringMatching(/^compression=2/));
  expect(pruned({ strategy: 'magnitude_global', compression: 2 })).not.toContainEqual(
    expect.stringMatching(/^compression=2/),
  );
  expect(pruned({ strategy: 'optimize' })).not.toContainEqual(expect.stringMatching(/^compression/));
});

/** The names of the parameters that are suggested. */
const named = (request: Readonly<Record<string, unknown>>, more: Partial<typeof outcome> = {}) =>
  remediesFor({ ...outcome, ...more, request: parseRequest({ operation: 'quantize', ...request }) }).map(
    (one) => one.split(/[=:]/)[0],
  );

test('nothing is suggested that the method has, or that it or the model cannot take', () => {
  const fixed = { strategy: 'static_minmax', precision: 8 };
  expect(named({ ...fixed, per_channel: false })).toContain('per_channel');
  expect(named(fixed)).not.toContain('per_channel');
  expect(named({ ...fixed, per_channel: false }, { opset: 12 })).not.toContain('per_channel');
  expect(named({ strategy: 'weight_only', precision: 4 })).not.toContain('per_channel');
  const [only] = outcome.layers;
  // One layer alone cannot be left out.
  expect(named(fixed, { layers: only ? [only] : [] })).not.toEqual(
    expect.arrayContaining([expect.stringMatching(/max_error|exclude/)]),
  );
  const convs = outcome.layers.map((one) => ({ ...one, operator: 'Conv' }));
  expect(named({ strategy: 'dynamic', precision: 8, include: ['Conv'] }, { layers: convs })).not.toEqual(
    expect.arrayContaining(['strategy=weight_only']),
  );
});

test('layers to leave out are named, those whose weights changed most', () => {
  const said = remediesFor({
    ...outcome,
    request: parseRequest({ operation: 'quantize', strategy: 'dynamic', precision: 8, exclude: ['e'] }),
  });
  expect(said).toContainEqual(expect.stringMatching(/^exclude=e,d,c,b:/));
});

test('without labels the loss is that of agreement, where the set is large enough and the outputs are not far off', () => {
  const compared = (choices: number, error: number, source: 'evaluation' | 'synthetic' = 'evaluation') => ({
    outputs: [{ ...output, relative_l2_error: error }],
    accuracy: null,
    agreement: { kind: 'neighbours' as const, share: 0.75, choices, output: 'y', mean_cosine: 0.99 },
    data: { ...data, source },
  });
  expect(lossOf(compared(100, 0.1))).toBe(0.25);
  expect(lossOf(compared(31, 0.1))).toBe(0.1);
  expect(lossOf(compared(100, 0.3))).toBe(0.3);
  expect(lossOf(compared(100, 0.1, 'synthetic'))).toBe(0.1);
  expect(agreementLine(compared(100, 0.1))).toBe(
    'Agrees with the model on 75.0 % of 100 nearest neighbours by y, mean cosine 0.9900 (9 samples of the evaluation set, without labels).',
  );
});
