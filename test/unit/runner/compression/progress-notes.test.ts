import { expect, test } from 'vitest';
import { readSettings } from '../../../../shared/core/settings.ts';
import type { TableWriter, Write } from '../../../../shared/data/table/table.ts';
import { ConditionFailedError } from '../../../../shared/data/table/write-label.ts';
import { ProgressNotes } from '../../../../shared/runner/compression/progress-notes.ts';
import { Heart } from '../../../../shared/runner/job/heart.ts';
import type { HeldJob } from '../../../../shared/runner/job/hold-job.ts';
import { JobStop } from '../../../../shared/runner/job/job-stop.ts';
import { recordedCompression } from '../../../support/compression.ts';

/** A job whose record is only this list of what was written to it. */
async function job() {
  const noted: unknown[] = [];
  const state = { isOver: false };
  const records = {
    async write(...[first]: Write[]) {
      if (state.isOver) throw new ConditionFailedError();
      if (first !== undefined && 'update' in first) noted.push(first.change.set?.['progress']);
    },
  } as unknown as TableWriter<'records'>;
  const record = await recordedCompression(
    { records },
    { user: { user_id: '01h00000000000000000000000', username: 'ada' } as never },
    'prune',
    false,
  );
  const at = new Date().toISOString();
  const held: HeldJob = {
    record,
    lease: { holder: 'me', number: 1, batch_job_id: 'b', batch_attempt: 1, taken_at: at, heartbeat_at: at },
    node: 0,
    records,
    settings: readSettings({ RECORDS_TABLE: 'r', BUCKET: 'b' }),
    stop: new JobStop(),
    heart: new Heart(),
    watch: undefined as never,
    log: undefined as never,
    now: () => new Date(),
  };
  return { held, noted, state };
}

test('the first news are noted at once, then only the latest', async () => {
  const { held, noted } = await job();
  const notes = new ProgressNotes(held);
  for (let part = 0; part < 100; part += 1) notes.note('transform', part / 99);
  await expect.poll(() => noted.length).toBe(2);
  expect(noted).toEqual([
    { stage: 'transform', fraction: 0 },
    { stage: 'transform', fraction: 1 },
  ]);
  await notes.close();
});

test.each([
  [Number.NaN, 0],
  [-1, 0],
  [7, 1],
  [0.123456, 0.123],
])('a fraction of %d is noted as %d', async (given, fraction) => {
  const { held, noted } = await job();
  const notes = new ProgressNotes(held);
  notes.note('compare', given);
  await expect.poll(() => noted).toEqual([{ stage: 'compare', fraction }]);
  await notes.close();
});

test('nothing is noted once it is closed', async () => {
  const { held, noted } = await job();
  const notes = new ProgressNotes(held);
  await notes.close();
  notes.note('late', 1);
  await notes.close();
  expect(noted).toEqual([]);
});

test('a job that is over is no fault', async () => {
  const { held, noted, state } = await job();
  state.isOver = true;
  const notes = new ProgressNotes(held);
  notes.note('compare', 0.5);
  await notes.close();
  expect(noted).toEqual([]);
});
