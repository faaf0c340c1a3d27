import { join } from 'node:path';
import { expect, test } from 'vitest';
import { idleReport } from '../../../../infra/aws/cost/cost-report.ts';
import { idleCost, idleItems, jobImageBytes } from '../../../../infra/aws/cost/idle.ts';
import { prices } from '../../../../infra/aws/cost/price-list.ts';
import { everySample } from '../../../support/samples.ts';

test.runIf(everySample)('the image of the jobs has the bytes of its parts', async () => {
  const bytes = await jobImageBytes(join(import.meta.dirname, '../../../..'));

  // Node, Python and ONNX Runtime alone are more than the one, and nothing in it is as large as the other.
  expect(bytes).toBeGreaterThan(100e6);
  expect(bytes).toBeLessThan(400e6);
});

test('what costs money while nobody uses a deployment is the image of its jobs, by its bytes', () => {
  const bytes = 120e6;
  const items = idleItems(new Map(), bytes);
  const cost = items.reduce((sum, item) => sum + idleCost(item), 0);
  expect(cost).toBeCloseTo((bytes / 1e9) * prices.ecr.gbMonth, 9);
  expect(idleReport(items)).toMatch(/job image in ECR +0\.\d{3} +GB/i);
  expect(idleReport(items)).toContain(`Idle cost a month: US$ ${cost.toFixed(2)}`);
});
