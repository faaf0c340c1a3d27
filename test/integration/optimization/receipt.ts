import type { Receipt } from '../../../shared/onnx/receipt/receipt.ts';

const same = <T>(value: T) => ({ before: value, after: value });

/** The receipt of a pruning that changed nothing, of a model of so many bytes. */
export function receiptOf(bytes: number): Receipt {
  return {
    receipt_version: 1,
    summary: [],
    is_useless: false,
    agreement: null,
    operation: 'prune',
    strategy: 'structured_l2',
    request: {},
    file_bytes: same(bytes),
    gzip_bytes: same(bytes),
    gzip_level: 6,
    gzip_sampled: false,
    measure: 'quick',
    latency_batch: null,
    candidates: [],
    suggestions: [],
    parameters: same(124),
    nonzero_parameters: same(124),
    pruning: null,
    operators: same({ Conv: 1 }),
    opsets: same({ 'ai.onnx': 17 }),
    layers: [],
    layers_omitted: 0,
    kept: [],
    notes: ['Nothing was to be done.'],
    warnings: [],
    run_as_whole: true,
    outputs: [],
    checked_layers: [],
    compared_on: null,
    calibrated_on: null,
    accuracy: null,
    latency: null,
    excluded_by_error: [],
    stages: [{ name: 'transform', seconds: 0.1, peak_memory_bytes: 1000 }],
    onnx_runtime: { measured_with: '1.30.0', needed: '1.15.0' },
    seeds: {},
    hardware: { processor: 'x', architecture: 'x64', flags: [], threads: 1 },
  };
}
