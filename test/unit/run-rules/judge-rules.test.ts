import { describe, expect, test } from 'vitest';
import { judgeRules, type RulePoint, type RuleProgress } from '../../../shared/run-rules/judge-rules.ts';
import type { RunRule } from '../../../shared/run-rules/run-rule.ts';
import fc, { runs } from '../../support/seeded-fast-check.ts';
import { type DrawnEvent, plainlyMet } from './plain-judge.ts';

const value = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: 0, max: 6 }) },
  fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY),
);
const name = fc.constantFrom(
  'loss',
  'acc',
  'system/cpu_utilization_percentage',
  'system/gpu_0_utilization_percentage',
);

/** What happens to a run, with the seconds since the event before. */
const events: fc.Arbitrary<DrawnEvent[]> = fc.array(
  fc.record({
    seconds: fc.integer({ min: 0, max: 40 }),
    points: fc.array(fc.record({ name, value }), { maxLength: 3 }),
    hasPrinted: fc.boolean(),
  }),
  { minLength: 10, maxLength: 25 },
);

const span = fc.oneof(
  fc.integer({ min: 1, max: 4 }).map((count) => `${count} evaluations`),
  fc.integer({ min: 1, max: 90 }).map((seconds) => `${seconds}s`),
);
const duration = fc.integer({ min: 1, max: 90 }).map((seconds) => `${seconds}s`);
const metric = fc.constantFrom('loss', 'acc');
const bound = fc.record({ metric, value: fc.integer({ min: 0, max: 6 }), for: span });

const rule: fc.Arbitrary<RunRule> = fc
  .oneof(
    metric.map((nan) => ({ nan })),
    bound.map((above) => ({ above })),
    bound.map((below) => ({ below })),
    fc.record({ metric, for: span }).map((stalled) => ({ 'no improvement': stalled })),
    duration.map((silent) => ({ silent })),
    duration.map((text) => ({ idle: { gpu: '4 %', for: text } })),
    duration.map((text) => ({ idle: { cpu: 3, for: text } })),
  )
  .map((condition) => ({ ...condition, do: 'stop' }));

/** Returns the index of the event at which the rule is met, as a supervisor judges; undefined if it is not. */
function metAt(judged: RunRule, drawn: readonly DrawnEvent[]): number | undefined {
  let progress: RuleProgress | undefined = judgeRules([judged], undefined, { now: 0 }).progress;
  let now = 0;
  for (const [index, { seconds, points, hasPrinted }] of drawn.entries()) {
    now += seconds * 1000;
    const at: RulePoint[] = points.map((point) => ({ ...point, step: index, time: now }));
    const result = judgeRules([judged], progress, { now, points: at, hasPrinted });
    if (result.met.length > 0) return index;
    // What the table holds between two requests.
    progress = JSON.parse(JSON.stringify(result.progress));
  }
  return undefined;
}

describe('a rule', () => {
  test('is met exactly at the event at which a plain search through the whole series finds it', () => {
    fc.assert(
      fc.property(rule, events, (judged, drawn) => {
        expect(metAt(judged, drawn)).toBe(plainlyMet(judged, drawn));
      }),
      { numRuns: runs(16_000) },
    );
  });

  test('is met in a fair share of the drawn series, so both cases are compared', () => {
    const drawn = fc.sample(fc.tuple(rule, events), { numRuns: 1_000, seed: 45 });
    const met = drawn.filter(([judged, series]) => metAt(judged, series) !== undefined);

    expect(met.length).toBeGreaterThan(300);
    expect(met.length).toBeLessThan(900);
  });

  test('is met once', () => {
    const judged: RunRule = { nan: 'loss', do: 'notify' };
    const points = [{ name: 'loss', value: Number.NaN, step: 1, time: 0 }];

    const first = judgeRules([judged], undefined, { now: 0, points });
    const second = judgeRules([judged], first.progress, { now: 1, points });

    expect(first.met).toEqual([{ index: 0, reason: 'loss was NaN at step 1.' }]);
    expect(second.met).toEqual([]);
  });

  test('for idle GPUs does not count the time for which a machine was suspended', () => {
    const idle: RunRule = { idle: { gpu: '5 %', for: '20m' }, do: 'stop' };
    const sample = (seconds: number): RulePoint => ({
      ...{ name: 'system/gpu_0_utilization_percentage', value: 0, step: null },
      time: seconds * 1000,
    });
    const metOf = (samples: readonly RulePoint[]) =>
      judgeRules([idle], undefined, { now: 0, points: samples }).met;

    const suspended = metOf([sample(0), sample(10), sample(3_600)]);
    const awake = metOf(Array.from({ length: 121 }, (_, index) => sample(index * 10)));

    expect(suspended).toEqual([]);
    expect(awake).toEqual([{ index: 0, reason: 'no GPU was used by 5 % or more for 20m.' }]);
  });
});
