import { describe, expect, test } from 'vitest';
import { showJob } from '../../../shared/jobs/shown-job.ts';

const now = new Date('2026-01-02T03:04:05.500Z');
const before = '2026-01-02T03:04:00.000Z';

function shown(started_at: string | null, stopped_at: string | null) {
  return showJob({ started_at, stopped_at, cost_estimate: 3.6, timeout: 3600, attempts: [] }, now);
}

describe('a job as it is shown', () => {
  test('has taken no time before it starts', () => {
    expect(shown(null, null)).toMatchObject({ duration: null, cost: null });
    expect(shown(null, before)).toMatchObject({ duration: null, cost: 0 });
  });

  test('takes time until now, and then until its end', () => {
    expect(shown(before, null)).toMatchObject({ duration: 5.5, cost: null });
    expect(shown(before, '2026-01-02T03:05:40.000Z')).toMatchObject({ duration: 100, cost: 0.1 });
  });

  test('never takes less than no time, whatever the clocks say', () => {
    expect(shown('2026-01-02T03:05:00.000Z', null).duration).toBe(0);
    expect(shown('2026-01-02T03:05:00.000Z', before).duration).toBe(0);
  });
});
