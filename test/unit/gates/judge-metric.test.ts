import { describe, expect, test } from 'vitest';
import { judgeRuns } from '../../../shared/gates/judge-gate.ts';
import { parseGate } from '../../../shared/gates/parse-gate.ts';
import { seededRandom } from '../../support/seeded-random.ts';

const judged = (
  text: string,
  head: readonly number[],
  base: readonly number[] | null,
  earlier: readonly number[] = [],
) =>
  judgeRuns(parseGate(text, 'runs'), {
    ...{ cost: 1.25, bytes: { file: 500, base: 1000 }, latency: null },
    metrics: new Map([['accuracy', { head, base, earlier }]]),
  });

describe('a gate on a metric', () => {
  test.each<[string, readonly number[], readonly number[], string]>([
    ['accuracy >= base - 0.5%', [0.95], [0.95], 'passed'],
    // One run each: what a repetition would change is not known.
    ['accuracy >= base', [0.93], [0.95], 'undecided'],
    ['accuracy >= base', [0.2], [0.95], 'failed'],
    ['accuracy <= base * 1.02', [0.2], [0.1], 'undecided'],
    ['accuracy <= base', [0.5], [0.1], 'failed'],
    ['accuracy >= 90%', [0.89], [0.95], 'failed'],
    // What is no share of successes, such as a reward, may spread as far as a loss.
    ['accuracy >= base', [70], [100], 'undecided'],
    ['accuracy >= base', [20], [100], 'failed'],
    ['accuracy >= base', [-150], [-100], 'undecided'],
    // Nothing is a multiple of 0.
    ['accuracy <= base', [0.01], [0], 'undecided'],
    ['accuracy >= base', [0.9, 0.901, 0.899], [0.95, 0.951, 0.949], 'failed'],
    ['accuracy >= base', [0.949, 0.947, 0.951], [0.95, 0.951, 0.949], 'undecided'],
    ['accuracy >= base', [0.98, 0.981, 0.979], [0.95, 0.951, 0.949], 'passed'],
    ['accuracy <= base * 1.02', [1.2, 1.201, 1.199], [1, 1.001, 0.999], 'failed'],
    ['accuracy >= 0.9', [0.89, 0.91, 0.9], [], 'undecided'],
    // A head that has become unsteady.
    ['accuracy >= base', [0.36, 0.34, 0.78], [0.976, 0.976, 0.988], 'failed'],
    // Equal by chance, as rounded values are.
    ['accuracy >= base', [0.975, 0.975], [0.988, 0.988], 'undecided'],
    ['accuracy >= base', [Number.NaN], [0.9], 'failed'],
    ['accuracy <= 1', [Number.POSITIVE_INFINITY], [0.9], 'failed'],
    ['cost <= 1.25', [1], [1], 'passed'],
    ['cost <= 1.2', [1], [1], 'failed'],
    ['bytes <= 0.5x', [1], [1], 'passed'],
  ])('%s of %j against %j: %s', (text, head, base, verdict) => {
    expect(judged(text, head, base).verdict).toBe(verdict);
  });

  test.each<[string, number, readonly number[], string]>([
    ['accuracy <= base * 1.02', 2, [1, 1.01, 0.99, 1.005, 0.995, 1, 1.01], 'failed'],
    ['accuracy <= base * 1.02', 1.06, [1, 1.01, 0.99, 1.005, 0.995, 1, 1.01], 'undecided'],
    ['accuracy >= base', 0.9, [0.95, 0.951, 0.949, 0.9505, 0.9495, 0.95, 0.951], 'failed'],
    // Too few commits, and commits that repeat a value because they change no training.
    ['accuracy <= base', 2, [1, 1.01, 0.99, 1.005, 0.995], 'undecided'],
    ['accuracy <= base', 2, [1, 1, 1, 1, 1.001, 1.001, 1.001, 1, 1], 'undecided'],
    // They spread so far that four times the base tells more.
    ['accuracy <= base', 5, [1, 3, 0.2, 2, 0.5, 4, 1], 'failed'],
  ])('%s of one run %d, with the commits %j before: %s', (text, head, [base = 0, ...earlier], verdict) => {
    expect(judged(text, [head], [base], earlier).verdict).toBe(verdict);
  });

  test('says what is not known', () => {
    expect(judged('accuracy >= base', [0.93], [0.95]).note).toContain(
      'the noise is not known, and values down to 0.855 may be noise',
    );
    expect(judged('accuracy <= base', [1], [0]).note).toContain('any value may be noise');
    expect(judged('accuracy <= base', [2], [1], [1.01, 0.99, 1.005, 0.995, 1]).note).toMatch(
      /^one run each; noise ±\S+ from 6 commits of the base$/,
    );
    expect(judged('accuracy >= base', [0.949, 0.951], [0.95, 0.951]).note).toMatch(
      /^within noise ±\S+ over 2 and 2 runs$/,
    );
    expect(judged('loss <= 1', [1], null)).toMatchObject({
      ...{ verdict: 'unmeasured', holds: false },
      note: 'The training reported accuracy.',
    });
    expect(judged('accuracy >= base', [1], null).verdict).toBe('unmeasured');
  });

  test.each([
    { runs: 3, commits: 0 },
    { runs: 1, commits: 0 },
    { runs: 1, commits: 6 },
    { runs: 1, commits: 30 },
  ])(
    'fails by noise alone in fewer than 1 of 100 comparisons of equal programs: $runs runs, $commits commits',
    ({ runs, commits }) => {
      const random = seededRandom(7);
      const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
      const drawn = (count: number) => Array.from({ length: count }, () => 0.9 + 0.02 * normal());

      const failed = Array.from({ length: 2000 }, () =>
        judged('accuracy >= base', drawn(runs), drawn(runs), drawn(commits)),
      ).filter(({ holds }) => !holds);

      expect(failed.length).toBeLessThan(10);
    },
  );
});
