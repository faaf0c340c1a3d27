import { expect, test } from 'vitest';
import { parseCompression } from '../../../../cli/ci/ci-compression.ts';

test('a compression becomes flags of the engine, with the usual precision and shares of 1', () => {
  expect(parseCompression({ max_loss: '1%', for: 'avx2', exclude: ['Softmax', 'Gemm'] })).toEqual({
    compress: {
      ...{ operation: 'quantize', strategy: 'auto' },
      flags: ['--precision=4', '--max-loss=0.01', '--for=avx2', '--exclude=Softmax,Gemm'],
    },
    faults: [],
  });
  expect(
    parseCompression({ strategy: 'static_mse', precision: 8, equalize: true, leaf_node: false }),
  ).toMatchObject({
    compress: { flags: ['--precision=8', '--equalize', '--no-leaf-node'] },
  });
  expect(parseCompression({ strategy: 'structured_l2', compression: 2, calibration: 'a.npz' })).toEqual({
    compress: {
      ...{ operation: 'prune', strategy: 'structured_l2', calibration: 'a.npz' },
      flags: ['--compression=2'],
    },
    faults: [],
  });
});

test('each fault of a compression is named', () => {
  const { faults } = parseCompression({
    ...{ strategy: 'magic', max_los: 1, for: 'avx9', equalize: 'yes', precision: '8', max_error: 'none' },
    ...{ calibration: 3, operation: 'both', __proto__: 1, toString: 1 },
  });

  expect(faults.map((fault) => fault.split(':')[0])).toEqual([
    ...['compress.strategy', 'compress.operation', 'compress.calibration', 'compress.max_los'],
    ...['compress.for', 'compress.equalize', 'compress.precision', 'compress.max_error', 'compress.toString'],
  ]);
  expect(faults[3]).toContain('Did you mean max_loss?');
});
