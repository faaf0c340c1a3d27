import { describe, expect, test } from 'vitest';
import { answerText, usualBytes } from '../../../cli/mcp/answer-text.ts';

const mapOf = (count: number, value: unknown) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`${at}/name of somebody else`, value]));

describe('an answer of a tool', () => {
  test('keeps its own fields, however many metrics and params it has', () => {
    const summary = { last: 0.12345678901234568, min: 0.12345678901234568, max: 0.12345678901234568 };
    const data = { ...{ run: 'a', status: 'FAILED' }, metrics: mapOf(500, summary), params: mapOf(500, 'x') };

    const text = answerText({ data: { ...data, commit: 'c' } });

    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(usualBytes);
    expect(JSON.parse(text).data).toMatchObject({
      ...{ run: 'a', status: 'FAILED', commit: 'c' },
      metrics: { '0/name of somebody else': summary },
    });
  });

  test('keeps its own fields beside values that no bound makes short', () => {
    const deep = mapOf(20, mapOf(20, mapOf(20, 'x')));

    const text = answerText({ data: { run: 'a', metrics: deep, log: Array(100).fill('y'.repeat(5000)) } });

    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(usualBytes);
    expect(JSON.parse(text).data.run).toBe('a');
  });

  test('hides no value behind a name that is equal once unseen characters are cut', () => {
    const text = answerText({ data: { metrics: { accuracy: 0.1, 'accu\u200bracy': 0.99 } } });

    expect(JSON.parse(text).data.metrics).toEqual({ accuracy: 0.1, 'accuracy (2)': 0.99 });
  });
});
