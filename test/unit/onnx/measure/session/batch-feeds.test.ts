import { expect, test } from 'vitest';
import { batchOf } from '../../../../../shared/onnx/measure/session/batch-feeds.ts';

const input = { name: 'x', type: 'float', dims: null, values: 'normal', below: 0 } as const;
const feeds = new Map([['x', { type: 'float', dims: [1, 2], values: Float32Array.of(3, 4) } as const]]);

test('a sample is repeated along a free first axis alone', () => {
  expect(batchOf([{ ...input, declared: [null, 2] }], feeds, 3)?.get('x')).toEqual({
    type: 'float',
    dims: [3, 2],
    values: Float32Array.of(3, 4, 3, 4, 3, 4),
  });
  for (const declared of [[1, 2], null]) expect(batchOf([{ ...input, declared }], feeds, 3)).toBeUndefined();
  expect(batchOf([{ ...input, declared: [null, 2] }], feeds, 2 ** 24)).toBeUndefined();
});
