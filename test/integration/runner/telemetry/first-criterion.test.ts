import { expect, test } from 'vitest';
import { firstCriterionPartition } from '../../../../shared/data/projects/inferred-criterion.ts';
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
