import { expect, test } from 'vitest';
import { blocksOf, parseReport } from '../../../shared/reports/parse-report.ts';

test.each([
  ['spaces before a backtick', `\`\`\`${'\t'.repeat(2_000_000)}\``],
  ['a fence that goes on', `${'`'.repeat(2_000_000)}x\``],
  ['spaces in a key', `\`\`\`mps value\n${' '.repeat(2_000_000)}A\n\`\`\``],
])('takes a time in proportion to a line of %s', (_, text) => {
  // Quadratic time would be many minutes.
  expect(parseReport(text).parts.length).toBeLessThanOrEqual(1);
});

test('a fence inside other code is part of that code', () => {
  const { parts, faults } = parseReport('````\n```mps value\n```\n````\n~~~\t mps  sweep \nsweep: x\n~~~');
  expect(blocksOf(parts).map(({ kind, line }) => [kind, line])).toEqual([['sweep', 5]]);
  expect(faults).toEqual(['line 5: sweep must be ids of 26 characters']);
});
