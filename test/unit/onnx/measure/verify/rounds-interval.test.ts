import { expect, test } from 'vitest';
import { minRounds, roundsEstimate } from '../../../../../shared/onnx/measure/verify/rounds-interval.ts';
import { seededRandom } from '../../../../support/seeded-random.ts';

test('ten rounds span their interval, and of more the outermost are left out', () => {
  const rounds = (count: number) => Array.from({ length: count }, (_, at) => at + 1);
  expect(roundsEstimate(rounds(minRounds))).toEqual({ value: 5.5, interval: [1, 10] });
  expect(roundsEstimate(rounds(20)).interval).toEqual([3, 18]);
  expect(roundsEstimate(rounds(40)).interval).toEqual([10, 31]);
});

test('whatever the noise is like, the interval misses the truth about once in five hundred times', () => {
  const random = seededRandom(7);
  // Mostly quiet, at times very slow: nothing like a normal distribution.
  const ratio = () => Math.exp((random() - 0.5) * (random() < 0.1 ? 2 : 0.02));
  let missed = 0;
  for (let repeat = 0; repeat < 4000; repeat += 1) {
    const { interval } = roundsEstimate(Array.from({ length: 14 }, ratio));
    if (interval[0] > 1 || interval[1] < 1) missed += 1;
  }
  expect(missed).toBeLessThanOrEqual(20);
});
