import { describe, expect, test } from 'vitest';
import { type GateFacts, judgeGate } from '../../../shared/gates/judge-gate.ts';
import { parseGate } from '../../../shared/gates/parse-gate.ts';

const facts: GateFacts = {
  accuracy: { file: 0.985, base: 0.99 },
  agreement: 0.97,
  error: 0.04,
  bytes: { file: 500_000, base: 1_000_000 },
  latency: {
    file: { value: 2, interval: [1.9, 2.1] },
    ratio: { value: 0.9, interval: [0.85, 0.95] },
  },
};
const verdict = (text: string, more: Partial<GateFacts> = {}) =>
  judgeGate(parseGate(text), { ...facts, ...more }).verdict;

describe('a gate', () => {
  test.each([
    ['accuracy >= base - 0.5%', 'passed'],
    ['accuracy >= base - 0.4%', 'failed'],
    ['accuracy >= 98.5%', 'passed'],
    ['agreement >= 97%', 'passed'],
    ['agreement >= 98%', 'failed'],
    ['error <= 0.04', 'passed'],
    ['error <= 0.039', 'failed'],
    ['bytes <= 500KB', 'passed'],
    ['bytes <= 0.49x', 'failed'],
  ])('%s: %s', (text, expected) => {
    expect(verdict(text)).toBe(expected);
  });

  test.each([
    ['latency <= 1.0x', 'passed'],
    ['latency <= 0.9x', 'undecided'],
    ['latency <= 0.8x', 'failed'],
    ['latency <= 2.2ms', 'passed'],
    ['latency <= 2ms', 'undecided'],
    ['latency <= 1.5ms', 'failed'],
  ])('on time is judged by the whole interval. %s: %s', (text, expected) => {
    const judged = judgeGate(parseGate(text), facts);
    expect(judged.verdict).toBe(expected);
    // Noise alone fails nothing.
    expect(judged.holds).toBe(expected !== 'failed');
  });

  test('on what was not measured does not hold', () => {
    expect(verdict('accuracy >= 90%', { accuracy: null })).toBe('unmeasured');
    expect(verdict('latency <= 1x', { latency: null })).toBe('unmeasured');
    expect(judgeGate(parseGate('agreement >= 1%'), { ...facts, agreement: null }).holds).toBe(false);
  });
});
