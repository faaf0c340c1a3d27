import { expect, test } from 'vitest';
import { fromMlflow } from '../../../functions/console/app/ui/mlflow-link.ts';

test.each([
  ['#/experiments/p1', '#/projects/p1'],
  ['#/experiments/p1/runs/p1-e1', '#/projects/p1/experiments/e1'],
  ['#/experiments/p1/runs/p2-e1', '#/experiments/p1/runs/p2-e1'],
  ['#/projects/p1?sort=name', '#/projects/p1?sort=name'],
  ['', ''],
])('the link of a client %s leads to %s', (link, place) => {
  expect(fromMlflow(link)).toBe(place);
});
