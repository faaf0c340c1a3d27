import { expect, test } from 'vitest';
import type { ExperimentRow } from '../../../shared/data/experiments/experiment-row.ts';
import { anyExperiment } from '../../../shared/experiments/filter-rule.ts';
import { parseFilter } from '../../../shared/search/parse-filter.ts';

test.each([
  ["status = 'FAILED'", true],
  ["status = 'failed'", false],
  ["status NOT IN ('failed')", true],
])('a filter that is kept means what it did before texts were read freely: %s', (filter, isFound) => {
  const row = { status: 'FAILED' } as ExperimentRow;

  expect(parseFilter(filter, anyExperiment).matches(row)).toBe(isFound);
});
