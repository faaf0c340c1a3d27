import type { BatchControl } from '../../shared/aws/batch.ts';
import type { Experiment } from '../../shared/data/experiments/experiment.ts';
import { putMetricPart, readMetricParts, withPoints } from '../../shared/data/metrics/metric-summaries.ts';
import type { TableWriter } from '../../shared/data/table/table.ts';
import { concludeJob } from '../../shared/jobs/conclusion.ts';

/** A Batch that takes every job and runs none. */
export const idleBatch: BatchControl = {
  submit: async ({ name }) => `b-${name}`,
  cancel: async () => undefined,
  terminate: async () => {},
  describe: async () => [],
  findByName: async () => undefined,
};

/** Ends an experiment as its container does, after it has reported this loss. `mortal` may fail at the end. */
export async function endRun(
  records: TableWriter<'records'>,
  one: Experiment,
  loss: number,
  mortal: TableWriter<'records'> = records,
): Promise<void> {
  const { project_id, experiment_id } = one;
  const point = { name: 'loss', value: loss, step: 1, time: Date.now() };
  const { parts } = withPoints(await readMetricParts(records, project_id, experiment_id), [point]);
  await records.write(...parts.map((part, index) => putMetricPart(project_id, experiment_id, index, part)));
  await concludeJob(mortal, one, { status: 'SUCCEEDED', reason: null }, new Date());
}
