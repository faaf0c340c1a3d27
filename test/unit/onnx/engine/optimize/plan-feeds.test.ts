import { expect, test } from 'vitest';
import { planFeeds } from '../../../../../shared/onnx/engine/optimize/plan-feeds.ts';
import { parseRequest } from '../../../../../shared/onnx/methods/apply/parse-request.ts';

const request = parseRequest({ operation: 'prune', strategy: 'structured_l2', compression: 2 });
const given = { request, evaluation: 'set.npz', shapes: new Map([['x', [8, null]]]) };

test('a set must agree with shapes that were asked for, not with those that were stored', () => {
  const outputShapes = new Map([['y', [8]]]);
  expect(planFeeds({ ...given, outputShapes }, []).compare.asked).toEqual({
    inputs: { x: [8, null] },
    outputs: { y: [8] },
  });
  expect(planFeeds({ ...given, areShapesStored: true }, []).compare.asked).toEqual({
    inputs: {},
    outputs: {},
  });
  expect(planFeeds(given, []).calibrate.asked).toBeUndefined();
});
