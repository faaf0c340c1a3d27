import { describe, expect, test } from 'vitest';
import { parseMetric } from '../../../../shared/runner/telemetry/metric-line.ts';

const now = new Date('2026-01-02T03:04:05.678Z');
const line = (more: object) => JSON.stringify({ name: 'loss', value: 1, ...more });

describe('a line of METRICS_FILE', () => {
  test.each([
    ['{"name":"loss","value":0.25}', { name: 'loss', value: 0.25, step: null, time: now.getTime() }],
    [line({ step: 3, time: null }), { step: 3, time: now.getTime() }],
    [line({ step: null, epoch: 7 }), { step: null }],
    [line({ time: 1_767_323_045.25 }), { time: 1_767_323_045_250 }],
    [line({ time: '2026-01-02T04:04:05.678901+01:00' }), { time: now.getTime() }],
    [line({ time: '2026-01-02T03:04:05Z' }), { time: 1_767_323_045_000 }],
    [line({ name: 'n'.repeat(128), value: -1e300 }), { name: 'n'.repeat(128), value: -1e300 }],
  ])('%s is read', (text, point) => {
    expect(parseMetric(text, now)).toEqual({ point: expect.objectContaining(point) });
  });

  test.each([
    ['loss=1', 'it is not JSON'],
    ['{"name":"loss","value":1', 'it is not JSON'],
    ['{"name":"loss","value":NaN}', 'value is not a finite number'],
    ['{"name":"loss","value":-Infinity}', 'value is not a finite number'],
    ['{"name":"loss","value":1e999}', 'value is not a finite number'],
    [line({ value: '1' }), 'value is not a finite number'],
    [line({ value: true }), 'value is not a finite number'],
    ['{"name":"loss"}', 'value is not a finite number'],
    [line({ step: '1' }), 'step is not a finite number'],
    [line({ name: 7 }), 'name is not text'],
    [line({ name: ' ' }), 'name is blank'],
    [line({ name: 'n'.repeat(129) }), 'name is longer than 128 characters'],
    [line({ name: 'a\u0000b' }), 'name holds a control character'],
    [line({ name: 'half of \ud83d' }), 'name holds a control character'],
    [line({ time: 'yesterday' }), 'time is neither ISO 8601 nor epoch seconds'],
    [line({ time: '2026-99-99T00:00:00Z' }), 'time is not between the years 1970 and 9999'],
    [line({ time: 1e15 }), 'time is not between the years 1970 and 9999'],
    [line({ time: -1 }), 'time is not between the years 1970 and 9999'],
    ['[1,2]', 'it is not a JSON object'],
    ['null', 'it is not a JSON object'],
    ['7', 'it is not a JSON object'],
    ['{"__proto__":{"name":"loss","value":1}}', 'name is not text'],
  ])('%s is refused', (text, fault) => {
    expect(parseMetric(text, now)).toEqual({ fault });
  });
});
