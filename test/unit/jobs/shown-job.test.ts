import { describe, expect, test } from 'vitest';
import type { JobStatus } from '../../../shared/data/jobs/job-status.ts';
import { showJob } from '../../../shared/jobs/shown-job.ts';

const now = new Date('2026-01-02T03:04:05.500Z');
const before = '2026-01-02T03:04:00.000Z';

const record = {
  status: 'RUNNING' as JobStatus,
  status_reason: null as string | null,
  attempt: 1,
  batch_attempt: 1,
  attempts: [],
  exit_code: null as number | null,
  cost_estimate: 3.6,
  timeout: 3600,
};

function shown(started_at: string | null, stopped_at: string | null) {
  return showJob({ ...record, started_at, stopped_at }, now);
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

  test('lists every attempt that has ended, also the one in which the job itself reported its end', () => {
    const [started_at, stopped_at] = [before, '2026-01-02T03:04:02.000Z'];
    const ended = { ...record, started_at, stopped_at, status: 'SUCCEEDED' as const, exit_code: 0 };
    const attempts = (job: Parameters<typeof showJob>[0]) => showJob(job, now).attempts;
    const ran = { capacity_type: null, seconds: 2, cost: 0.06 };
    const only = { attempt: 1, started_at, stopped_at, exit_code: 0, reason: null, ...ran };
    expect(attempts(ended)).toEqual([only]);
    expect(attempts({ ...ended, status: 'RUNNING' })).toEqual([]);
    expect(attempts({ ...ended, status: 'CANCELLED', attempt: 0, batch_attempt: 0 })).toEqual([]);
    const lost = {
      attempt: 1,
      started_at,
      stopped_at,
      exit_code: null,
      reason: 'Host EC2 (i-1) terminated.',
    };
    const shownLost = { ...lost, ...ran };
    const retried = { ...ended, attempt: 2, batch_attempt: 2, attempts: [lost] };
    expect(attempts(retried)).toEqual([
      shownLost,
      { ...only, attempt: 2, started_at: null, seconds: null, cost: null },
    ]);
    const told = { ...retried, status: 'FAILED' as const, attempts: [lost, { ...lost, attempt: 2 }] };
    expect(attempts(told)).toEqual([shownLost, { ...shownLost, attempt: 2 }]);
  });
});
