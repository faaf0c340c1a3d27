import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { TableWriter } from '../../../../shared/data/table/table.ts';
import { ConditionFailedError } from '../../../../shared/data/table/write-label.ts';
import { Heart } from '../../../../shared/runner/job/heart.ts';
import { keepAlive } from '../../../../shared/runner/job/heartbeat.ts';
import type { HeldJob } from '../../../../shared/runner/job/hold-job.ts';
import { JobStop } from '../../../../shared/runner/job/job-stop.ts';
import { experimentOf } from '../../../support/experiment.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'] });
});

afterEach(() => {
  vi.useRealTimers();
});

/** A job on one node, which beats every 30 seconds, and the seconds of its heartbeats. */
function aliveJob(write: () => Promise<void> = async () => {}) {
  const beats: number[] = [];
  const heart = new Heart();
  const began = performance.now();
  const records = {
    async write() {
      beats.push((performance.now() - began) / 1000);
      await write();
    },
  } as unknown as TableWriter<'records'>;
  const at = new Date().toISOString();
  const job: HeldJob = {
    record: experimentOf('01h00000000000000000000000', null),
    lease: { holder: 'me', number: 1, batch_job_id: 'b', batch_attempt: 1, taken_at: at, heartbeat_at: at },
    node: 0,
    records,
    settings: undefined as never,
    stop: new JobStop(),
    heart,
    watch: undefined as never,
    log: { warn: () => {} } as never,
    now: () => new Date(),
  };
  return { job, heart, beats };
}

test('a job that sends nothing else writes a heartbeat every 30 seconds', async () => {
  const { job, beats } = aliveJob();
  const end = keepAlive(job);

  await vi.advanceTimersByTimeAsync(100_000);
  end();

  expect(beats).toEqual([30, 60, 90]);
});

test('a chunk of log or metrics counts as a heartbeat, and the next one follows 30 seconds after it', async () => {
  const { job, heart, beats } = aliveJob();
  const end = keepAlive(job);

  await vi.advanceTimersByTimeAsync(20_000);
  heart.beaten();
  await vi.advanceTimersByTimeAsync(60_000);
  end();

  expect(beats).toEqual([50, 80]);
});

test('its listener is called every 30 seconds, whatever renews the lease', async () => {
  const { job, heart, beats } = aliveJob();
  let calls = 0;
  const end = keepAlive(job, 15, () => {
    calls += 1;
  });

  for (let second = 0; second < 90; second += 10) {
    await vi.advanceTimersByTimeAsync(10_000);
    heart.beaten();
  }
  end();

  expect({ calls, beats }).toEqual({ calls: 3, beats: [] });
});

test('a write that hangs delays no later heartbeat, and one that is refused stops the job', async () => {
  const answers: (() => Promise<void>)[] = [
    () => new Promise(() => {}),
    () => Promise.reject(new ConditionFailedError()),
  ];
  const { job, beats } = aliveJob(() => answers.shift()?.() ?? Promise.resolve());
  const end = keepAlive(job);

  await vi.advanceTimersByTimeAsync(60_000);
  end();

  expect(beats).toEqual([30, 60]);
  expect(job.stop.reason).toMatchObject({ kind: 'superseded' });
});
