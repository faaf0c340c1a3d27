import { describe, expect, test } from 'vitest';
import { parseMetricLine } from '../../../../shared/runner/telemetry/metrics-file-line.ts';

const now = new Date('2026-01-02T03:04:05.678Z');
const line = (more: object) => JSON.stringify({ name: 'loss', value: 1, ...more });

describe('a line of METRICS_FILE', () => {
  test.each([
    ['{"name":"loss","value":0.25}', { name: 'loss', value: 0.25, step: null, time: now.getTime() }],
    [line({ step: 3, time: null }), { step: 3, time: now.getTime() }],
    [line({ step: null, epoch: 7 }), { name: 'loss', step: 7 }],
    [line({ step: 3, epoch: 7 }), { step: 3 }],
    [line({ time: 1_767_323_045.25 }), { time: 1_767_323_045_250 }],
    [line({ time: '2026-01-02T04:04:05.678901+01:00' }), { time: now.getTime() }],
    [line({ time: '2026-01-02T03:04:05Z' }), { time: 1_767_323_045_000 }],
    [line({ name: 'n'.repeat(128), value: -1e300 }), { name: 'n'.repeat(128), value: -1e300 }],
  ])('%s is read', (text, point) => {
    expect(parseMetricLine(text, now)).toEqual({ points: [expect.objectContaining(point)] });
  });

  test.each([
    ['loss=1', 'it is not JSON'],
    ['{"name":"loss","value":1', 'it is not JSON'],
    [line({ value: '1' }), 'value is not a number'],
    [line({ value: true }), 'value is not a number'],
    ['{"name":"loss"}', 'value is not a number'],
    [line({ step: '1' }), 'step is not a number'],
    [line({ name: 7 }), 'name is not text'],
    [line({ name: ' ' }), 'name is blank'],
    [line({ name: 'n'.repeat(129) }), 'name is longer than 128 characters'],
    [line({ name: 'a\u0000b' }), 'name contains a control character'],
    [line({ name: 'half of \ud83d' }), 'name contains a control character'],
    [line({ time: 'yesterday' }), 'time is neither ISO 8601 nor epoch seconds'],
    [line({ time: '2026-99-99T00:00:00Z' }), 'time is not between the years 1970 and 9999'],
    [line({ time: 1e15 }), 'time is not between the years 1970 and 9999'],
    [line({ time: -1 }), 'time is not between the years 1970 and 9999'],
    ['[1,2]', 'it is not a JSON object'],
    ['null', 'it is not a JSON object'],
    ['7', 'it is not a JSON object'],
    ['{"__proto__":{"name":"loss","value":1}}', 'it contains no metric'],
    ['{"value":1}', 'name is not text'],
    ['{"step":4,"epoch":2,"phase":"train","done":true}', 'it contains no metric'],
    ['{"loss":0.5,"step":"4"}', 'step is not a number'],
    ['{}', 'it contains no metric'],
  ])('%s is refused', (text, fault) => {
    expect(parseMetricLine(text, now)).toMatchObject({ points: [], fault });
  });

  test.each([
    ['{"name":"loss","value":NaN,"step":3}', { loss: Number.NaN }, 3],
    [
      '{"loss":NaN,"acc":0.5,"val_loss":-Infinity,"epoch":2}',
      { loss: Number.NaN, acc: 0.5, val_loss: -Infinity },
      2,
    ],
    ['{"loss":1e999}', { loss: Infinity }, null],
    ['{"loss":0.5,"step":NaN,"epoch":Infinity,"time":NaN}', { loss: 0.5 }, null],
    ['{"phase":"is NaN, Infinity","loss":1}', { loss: 1 }, null],
  ])('%s keeps what a diverged training reports', (text, values, step) => {
    const { points, fault } = parseMetricLine(text, now);

    expect(fault).toBeUndefined();
    expect(points).toEqual(
      Object.entries(values).map(([name, value]) => ({ name, value, step, time: now.getTime() })),
    );
  });

  test.each([
    ['{"accuracy":0.93,"loss":0.2,"step":4}', { accuracy: 0.93, loss: 0.2 }, 4],
    ['{"epoch":2,"val_loss":0.5,"phase":"eval","best":true}', { val_loss: 0.5 }, 2],
    ['{"step":7,"epoch":2,"loss":1}', { loss: 1 }, 7],
    ['{"name":"run 3","loss":1}', { loss: 1 }, null],
    ['{"value":0.5,"advantage":0.1}', { value: 0.5, advantage: 0.1 }, null],
    ['{"loss":0.5,"time":1767323045.25}', { loss: 0.5 }, null],
  ])('%s reports each of its numbers but step, time and epoch', (text, values, step) => {
    const { points, fault } = parseMetricLine(text, now);
    expect(fault).toBeUndefined();
    expect(Object.fromEntries(points.map(({ name, value }) => [name, value]))).toEqual(values);
    expect(new Set(points.map((point) => point.step))).toEqual(new Set([step]));
  });

  test('what it lacks does not take the rest of it away', () => {
    const { points, fault } = parseMetricLine('{"loss": null, "acc": 0.5, "x": null, "step": 1}', now);
    expect(points).toEqual([{ name: 'acc', value: 0.5, step: 1, time: now.getTime() }]);
    expect(fault).toBe('loss is not a number');
    expect(parseMetricLine(`{"${'n'.repeat(129)}": 1, "b": 2}`, now)).toEqual({
      points: [expect.objectContaining({ name: 'b' })],
      fault: 'a name is longer than 128 characters',
    });
  });
});
