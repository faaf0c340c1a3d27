import { expect, test } from 'vitest';
import { readTracking } from '../../../../shared/data/experiments/tracking.ts';
import { readLog } from '../../../../shared/data/jobs/job-log.ts';
import { firstCriterionPartition } from '../../../../shared/data/projects/inferred-criterion.ts';
import { readPoints } from '../../../../shared/experiments/read-points.ts';
import { PointLog } from '../../../../shared/runner/telemetry/point-log.ts';
import { type LeasedExperiment, leasedExperiment } from '../leased-experiment.ts';

const points = [{ name: 'loss', value: 0.5, step: 1, time: Date.parse('2026-01-02T03:04:05.006Z') }];

const storePoints = ({ records, experiment, lease }: LeasedExperiment): Promise<void> =>
  new PointLog({ records, experiment, lease, now: () => new Date() }).store(points);

/** The criterion of the project that the metrics of a run have set. */
const criterionOf = async ({ records, experiment }: LeasedExperiment): Promise<unknown> =>
  (await records.query({ pk: firstCriterionPartition(experiment.project_id) })).items[0]?.['criterion'];

test('what a container measures first sets the criterion of its project', async () => {
  const leased = await leasedExperiment();

  await storePoints(leased);

  expect(await criterionOf(leased)).toEqual({ name: 'loss', goal: 'minimize' });
});

test('a container that has lost its lease sets none', async () => {
  const leased = await leasedExperiment();
  await leased.takeOver();

  await expect(storePoints(leased)).rejects.toThrow('the condition failed');

  expect(await criterionOf(leased)).toBeUndefined();
});

test('points that a writer declares void are gone from the history and from the summary of their metric', async () => {
  const { records, experiment, lease } = await leasedExperiment();
  const { project_id, experiment_id } = experiment;
  const log = new PointLog({ records, experiment, lease, now: () => new Date() });
  const at = (name: string, step: number) => ({ name, value: step, step, time: 1_767_000_000_000 + step });
  await log.store([at('loss', 1), at('loss', 5), at('acc', 5), at('late', 4)]);

  await Promise.all([
    log.purge({ names: new Set(['loss', 'late']), step: 3 }),
    log.store([at('loss', 2), at('acc', 6)]),
  ]);

  const { metrics } = await readTracking(records, project_id, experiment_id);
  expect(metrics.get('loss')).toMatchObject({ count: 2, last: 2, max: 2 });
  expect(metrics.get('acc')).toMatchObject({ count: 2, last: 6 });
  expect(metrics.has('late')).toBe(false);
  const { rows } = await readPoints(records, experiment_id, {}, undefined);
  expect(rows.map(({ name, step }) => [name, step])).toEqual([
    ['loss', 1],
    ['acc', 5],
    ['loss', 2],
    ['acc', 6],
  ]);
});

test('a point at a later step than all before is told until it is noted, and others are not', async () => {
  const { records, experiment, lease } = await leasedExperiment();
  const at = (name: string, step: number | null) => [{ name, value: 1, step, time: 1_767_000_000_000 }];
  await new PointLog({ records, experiment, lease, now: () => new Date() }).store(at('loss', 5));
  const answers = [false, true];
  let told = 0;
  const onLaterStep = async () => answers[told++] ?? true;
  const log = new PointLog({ records, experiment, lease, now: () => new Date(), onLaterStep });

  const counts: number[] = [];
  for (const points of [at('loss', 4), at('system/cpu', 9), at('loss', 6), at('loss', 7), at('loss', 8)]) {
    await log.store(points);
    counts.push(told);
  }

  expect(counts).toEqual([0, 0, 1, 2, 2]);
});

test('lines of the log and points of others that wait are stored with the points, and are there once', async () => {
  const { records, experiment, lease } = await leasedExperiment();
  const { experiment_id } = experiment;
  const written: number[] = [];
  const counted: typeof records = {
    ...records,
    async write(...writes) {
      written.push(writes.length);
      await records.write(...writes);
    },
  };
  const stored: string[] = [];
  const rideOf = <Row>(what: string, rows: Row[]) => ({
    ...{ sequence: 0, rows },
    stored: () => void stored.push(what),
    lost: () => void stored.push(`${what} lost`),
  });
  const time = Date.parse('2026-01-02T03:04:05.006Z');
  const line = { time: new Date(time).toISOString(), stream: 'stdout', message: 'epoch 1' } as const;
  const lines = [rideOf('lines', [line])];
  const others = [rideOf('points', [{ name: 'system/cpu', value: 1, step: 0, time }])];
  const log = new PointLog({
    ...{ records: counted, experiment, lease, now: () => new Date() },
    waitingLines: () => lines.pop(),
    waitingPoints: () => others.pop(),
  });

  await log.store(points);

  const log0 = await readLog(records, experiment_id, 0, undefined, { limit: 10, maxBytes: 1e6 });
  const { rows } = await readPoints(records, experiment_id, {}, undefined);
  expect(log0.rows).toEqual([line]);
  expect(rows.map(({ name }) => name)).toEqual(['loss', 'system/cpu']);
  expect(stored).toEqual(['lines', 'points']);
  // The heartbeat, the points, their summary and the lines. The criterion of the project has a write before.
  expect(written.at(-1)).toBe(4);
});

test('lines and points that ride are lost with the lease', async () => {
  const leased = await leasedExperiment();
  const { records, experiment, lease } = leased;
  await leased.takeOver();
  const lost: string[] = [];
  const rideOf = (what: string) => ({
    ...{ sequence: 0, rows: [] },
    stored: () => void lost.push(`${what} stored`),
    lost: () => void lost.push(what),
  });
  const log = new PointLog({
    ...{ records, experiment, lease, now: () => new Date() },
    waitingLines: () => rideOf('lines'),
    waitingPoints: () => rideOf('points'),
  });

  await expect(log.store(points)).rejects.toThrow('the condition failed');

  expect(lost).toEqual(['lines', 'points']);
});
