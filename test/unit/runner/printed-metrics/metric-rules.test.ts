import { describe, expect, test } from 'vitest';
import { MetricRules } from '../../../../shared/runner/printed-metrics/metric-rules.ts';

describe('rules of a project for metrics in its log', () => {
  test('are expressions with named groups, with a step', () => {
    const rules = new MetricRules([
      'it (?P<step>\\d+): cost=(?P<cost>\\S+) gap (?P<gap>\\S+)',
      '\\[(?P<name>\\w+)\\] (?P<value>[\\d.]+)',
    ]);

    expect(rules.readAll(['it 3: cost=1.5e-3 gap 2', '[hits] 7.5', 'it x', ''])).toEqual([
      {
        step: 3,
        values: [
          ['cost', 0.0015],
          ['gap', 2],
        ],
      },
      { step: null, values: [['hits', 7.5]] },
    ]);
    expect(rules.warnings).toEqual([]);
  });

  test('that matched no line are named at the end with the nearest one', () => {
    const rules = new MetricRules(['train cost: (?P<cost>\\d+)', 'zzz (?P<z>.)']);
    rules.readAll(['cost 3', 'train cost = 3', 'other']);

    expect(rules.warnings).toEqual([
      'The rule for metrics "train cost: (?P<cost>\\\\d+)" matched no line of the log. The nearest line: "train cost = 3".',
      'The rule for metrics "zzz (?P<z>.)" matched no line of the log.',
    ]);
  });

  test('that are wrong are named, and the others count', () => {
    const rules = new MetricRules([
      '(',
      'loss',
      '(?P<step>\\d+)',
      `(?P<a>${'x'.repeat(600)})`,
      'b=(?P<b>\\d)',
    ]);

    expect(rules.readAll(['b=1'])).toEqual([{ step: null, values: [['b', 1]] }]);
    expect(rules.warnings).toHaveLength(4);
    expect(rules.warnings[1]).toContain('names no metric');
  });

  test('are answered for a line on which other engines blow up', () => {
    const rules = new MetricRules(['^(a+)+(?P<x>\\d)$']);

    // An engine that goes back tries 2^900 ways and never ends.
    expect(rules.readAll([`${'a'.repeat(900)}!`, `${'a'.repeat(900)}7`])).toEqual([
      { step: null, values: [['x', 7]] },
    ]);
  });
});
