import { describe, expect, test } from 'vitest';
import { RunRules } from '../../../shared/data/projects/run-rules.ts';
import { parseRule } from '../../../shared/run-rules/parse-rule.ts';
import { rulesOfRun } from '../../../shared/run-rules/recorded-rule.ts';
import { isSameCondition, ruleText } from '../../../shared/run-rules/rule-text.ts';
import type { RunRule } from '../../../shared/run-rules/run-rule.ts';

const faultsOf = (rules: unknown): string[] =>
  (RunRules.safeParse(rules).error?.issues ?? []).map(({ path, message }) =>
    `${path.map(String).join('.')} ${message}`.trim(),
  );

describe('the text of a rule', () => {
  test.each<[string, object]>([
    ['nan: loss', { nan: 'loss' }],
    ['loss > 10', { above: { metric: 'loss', value: 10 } }],
    [
      'train/loss of all > 1e3 for 3 evaluations',
      { above: { metric: 'train/loss of all', value: 1000, for: '3 evaluations' } },
    ],
    ['accuracy < -0.1 for 30m', { below: { metric: 'accuracy', value: -0.1, for: '30m' } }],
    [
      'no improvement: val_loss for 10 evaluations',
      { 'no improvement': { metric: 'val_loss', for: '10 evaluations' } },
    ],
    [
      'no improvement: kappa for 2h (maximize)',
      { 'no improvement': { metric: 'kappa', for: '2h', goal: 'maximize' } },
    ],
    ['silent: 30m', { silent: '30m' }],
    ['idle: gpu 5 % for 20m', { idle: { gpu: '5 %', for: '20m' } }],
    ['idle: cpu 1.5 % for 90s', { idle: { cpu: '1.5 %', for: '90s' } }],
  ])('"%s" is a rule, and its text says the same again', (text, condition) => {
    const rule = parseRule(text, 'stop');

    expect(rule).toEqual({ ...condition, do: 'stop' });
    expect(parseRule(ruleText(rule), 'stop')).toEqual(rule);
  });

  test.each([
    ['', 'must be a rule: "nan: loss"'],
    ['loss is high', 'must be a rule: "nan: loss"'],
    ['loss > high', 'must be a rule'],
    ['loss > 10 for long', 'above.for must be a number of evaluations, such as 10 evaluations'],
    ['silent: 40d', 'silent must be a duration from 1s to 30d'],
    ['idle: gpu 500 % for 20m', 'idle.gpu must be a percentage above 0'],
    ['no improvement: kappa for 3 evaluations', 'goal is required: maximize or minimize'],
  ])('"%s" is refused, and the message says what is allowed', (text, message) => {
    expect(() => parseRule(text, 'stop')).toThrow(message);
  });

  test('means the same in another spelling', () => {
    const one = parseRule('silent: 30m', 'stop');
    const other: RunRule = { silent: '30 minutes', do: 'notify' };

    expect(isSameCondition(one, other)).toBe(true);
    expect(rulesOfRun([one], [other])).toEqual([{ rule: one, of: 'run', met: null }]);
  });
});

test('a list of rules names each fault with its place', () => {
  const faults = faultsOf([
    { nan: '', do: 'stop' },
    { nan: 'loss', silent: '30m', do: 'stop' },
    { do: 'stop' },
    { nan: 'loss', do: 'email' },
    { above: { metric: 'loss' }, do: 'stop' },
    { idle: { for: '20m' }, do: 'stop' },
    { naan: 'loss', do: 'stop' },
    'nan: loss',
  ]);

  expect(faults).toEqual([
    '0.nan must be the name of a metric, of at most 250 characters',
    '1 has nan and silent, but must have exactly one of nan, above, below, no improvement, silent, idle',
    '2 has none, but must have exactly one of nan, above, below, no improvement, silent, idle',
    '3.do must be notify or stop',
    '4.above.value must be a number',
    '5.idle must have either gpu or cpu',
    '6 must have one of nan, above, below, no improvement, silent, idle, and do',
    '6 has none, but must have exactly one of nan, above, below, no improvement, silent, idle',
    '7 must have one of nan, above, below, no improvement, silent, idle, and do',
  ]);
  expect(faultsOf(Array.from({ length: 21 }, () => ({ nan: 'loss', do: 'stop' })))).toEqual([
    'must have at most 20 rules',
  ]);
});
