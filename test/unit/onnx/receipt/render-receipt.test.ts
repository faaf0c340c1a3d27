import { describe, expect, test } from 'vitest';
import { receiptText } from '../../../../shared/onnx/cli/receipt-text.ts';
import type { Receipt } from '../../../../shared/onnx/receipt/receipt.ts';
import { renderReceipt } from '../../../../shared/onnx/receipt/render-receipt.ts';
import { xmlFault } from '../../config/graph/well-formed-xml.ts';

const hostile = '<script>alert("x")</script>&\u0000\u202e';

const layer = (index: number): Receipt['layers'][number] => ({
  layer: `layer ${index} ${hostile}`,
  operator: 'Conv',
  weight: hostile,
  parameters_before: 100,
  parameters_after: 50,
  nonzero_before: 100,
  nonzero_after: 25,
  sparsity_before: 0,
  sparsity_after: 0.5,
  error: index % 3 === 0 ? null : index / 1000,
});

const receipt = (layers: number): Receipt => ({
  receipt_version: 1,
  summary: [`THE RESULT IS OF NO USE ${hostile}`, '2 times as fast as the float model'],
  is_useless: true,
  agreement: null,
  operation: 'prune',
  strategy: 'structured_l2',
  request: { compression: 2 },
  file_bytes: { before: 2_000_000, after: 1_000_000 },
  gzip_bytes: { before: 1_800_000, after: 0 },
  gzip_level: 6,
  gzip_sampled: false,
  measure: 'full',
  latency_batch: null,
  candidates: [],
  suggestions: [],
  parameters: { before: 4_000_000_000, after: 2_000_000_000 },
  nonzero_parameters: { before: 0, after: 0 },
  pruning: {
    strategy: 'structured_l2',
    compression: 2,
    prunable_before: 100,
    prunable_after: 50,
    reached: 2,
    model_before: 110,
    model_after: 60,
    model_ratio: 1.83,
    groups: [],
  },
  operators: { before: { Conv: 3, [hostile]: 1, constructor: 2 }, after: { Conv: 3 } },
  opsets: { before: { 'ai.onnx': 17 }, after: { 'ai.onnx': 17 } },
  layers: Array.from({ length: layers }, (_, index) => layer(index)),
  layers_omitted: 0,
  kept: Array.from({ length: 50 }, (_, index) => ({ what: `${hostile} ${index}`, why: 'is an output' })),
  notes: [`${hostile} ${'word '.repeat(200)}`],
  warnings: ['x'.repeat(5000)],
  run_as_whole: true,
  outputs: [
    { name: hostile, relative_l2_error: 0.01, largest_difference: 1, values: 4, why: null },
    { name: 'b', relative_l2_error: null, largest_difference: null, values: 4, why: hostile },
    { name: 'c', relative_l2_error: 0, largest_difference: 0, values: 4, why: null },
  ],
  checked_layers: [],
  compared_on: { source: 'evaluation', samples: 3, shapes: { x: [1, 3] } },
  calibrated_on: null,
  accuracy: { before: 0.99, after: 0.98, samples: 100, difference_interval: null, output: 'y' },
  latency: {
    p50: { before: 1.5, after: 0.5 },
    p90: { before: 1.6, after: 0.6 },
    ratio: 0.33,
    ratio_interval: [0.32, 0.34],
    aa_ratio: 1.001,
    blocks: 30,
    runs_per_block: 10,
    shapes: { x: [1, 3] },
  },
  excluded_by_error: [],
  stages: [{ name: 'read', seconds: 0.5, peak_memory_bytes: 100_000_000 }],
  onnx_runtime: { measured_with: '1.30.0', needed: '1.12' },
  seeds: { request: 0 },
  hardware: { processor: hostile, architecture: 'x64', flags: [], threads: 1 },
});

describe('the page of a receipt', () => {
  test('is well-formed whatever the names are, and runs nothing', () => {
    const page = renderReceipt(receipt(12));
    expect(xmlFault(page)).toBeUndefined();
    expect(page).not.toContain('<script');
    expect(page).not.toContain('NaN');
    expect(page).not.toContain('Infinity');
  });

  test('says the figures', () => {
    const page = renderReceipt(receipt(3));
    for (const text of ['2 MB', '1 MB', '4 billion', '99.0 %', '98.0 %', '3.03 times as fast', '1.5 ms']) {
      expect(page).toContain(text);
    }
  });

  test('does not grow with the layers', () => {
    expect(renderReceipt(receipt(5000)).length).toBeLessThan(200_000);
    expect(renderReceipt(receipt(5000))).toContain('4960 more layers are in the receipt');
  });

  test('says where nothing was compared, which is not the same', () => {
    const bare = { latency: null, outputs: [], run_as_whole: false, compared_on: null };
    const page = renderReceipt({ ...receipt(2), ...bare });
    expect(xmlFault(page)).toBeUndefined();
    expect(page).toContain('nothing was compared');
    expect(page).not.toContain('not run as a whole');
  });

  test('shows layers that were run by themselves where the model was not', () => {
    const { latency: _, outputs: __, ...rest } = receipt(2);
    const checked_layers = [{ layer: 'big', relative_l2_error: 0.07, why: null }];
    const page = renderReceipt({ ...rest, latency: null, outputs: [], run_as_whole: false, checked_layers });
    expect(xmlFault(page)).toBeUndefined();
    expect(page).toContain('not run as a whole');
    expect(page).toContain('Latency was not measured.');
  });
});

test('a receipt as text says the same', () => {
  const text = receiptText(receipt(3));
  expect(text).toContain('latency p50      1.5 ms     →  0.5 ms');
  expect(text).toContain('3 times as fast');
  expect(text).toContain('3.03 times as fast; the model against itself 0.999 times as fast');
  expect(text).toContain('Needs ONNX Runtime 1.12');
  expect(text).toContain('Accuracy on 100 labelled samples');
  expect(text).toContain('Relative error of the outputs over the first 3 samples (evaluation)');
  expect(text).toContain('and 38 more');
});
