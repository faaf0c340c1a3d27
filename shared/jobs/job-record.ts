import type { BatchControl } from '../aws/batch.ts';
import type { Settings } from '../core/settings.ts';
import { type Experiment, experimentJob, parseExperiment } from '../data/experiments/experiment.ts';
import { OptimizationKind, TrainingKind, type UnfinishedJob } from '../data/jobs/job.ts';
import {
  type Compression,
  compressionJob,
  compressionRecordKind,
  parseCompression,
} from '../data/models/compression.ts';
import type { Item, TableReader, TableWriter } from '../data/table/table.ts';

/** Record of a job: an experiment or a compression. */
export type JobRecord = Experiment | Compression;

/** Whether a job prunes or quantizes a model; otherwise it is a training. */
export const isCompression = (record: JobRecord): record is Compression => 'strategy_id' in record;

/** Parse a stored job record. */
export const parseJobRecord = (item: Item): JobRecord =>
  item['record_type'] === compressionRecordKind ? parseCompression(item) : parseExperiment(item);

/** Return the row of a job in the list of unfinished jobs. */
export const unfinishedJobOf = (record: JobRecord): UnfinishedJob =>
  isCompression(record) ? compressionJob(record) : experimentJob(record);

/** Id of a job. It is the id of the experiment or compression. */
export const jobIdOf = (record: JobRecord): string =>
  isCompression(record) ? record.strategy_id : record.experiment_id;

/**
 * Name of the Batch job. It contains the record's id, which finds the job after a lost reply. Each submission has a name
 * of its own, so late news of an earlier one are recognised.
 */
export const batchNameOf = (record: JobRecord): string =>
  [
    record.kind,
    jobIdOf(record),
    ...(record.former_attempts === undefined ? [] : [record.former_attempts]),
    // The submission on Spot that it left may have as many.
    ...(record.capacity === 'spot-then-on-demand' && record.capacity_type === 'on-demand' ? ['od'] : []),
  ].join('-');

/** Name of the Batch job that builds the environment first. */
export const buildNameOf = (record: JobRecord): string => `build-${jobIdOf(record)}`;

const kinds = ['build', ...TrainingKind.options, ...OptimizationKind.options].join('|');
const namePattern = new RegExp(`^(${kinds})-([0-7][0-9a-hjkmnp-tv-z]{25})(?:-\\d+)?(?:-od)?$`);

/**
 * Return the id of the job that a Batch job belongs to, and whether the Batch job builds the environment. Return
 * undefined for foreign jobs.
 */
export function jobOfBatchName(name: string): { job_id: string; isBuild: boolean } | undefined {
  const [, kind, job_id] = namePattern.exec(name) ?? [];
  return job_id === undefined ? undefined : { job_id, isBuild: kind === 'build' };
}

/** Services that a comparison with Batch uses. */
export interface Reconciler {
  records: TableWriter<'records'>;
  batch: BatchControl;
  settings: Settings;
  /**
   * Table that holds the key of secret variables. Undefined if this process does not submit trainings with
   * variables.
   */
  keys?: TableReader<'accounts'> | undefined;
  /** Start of the only process that submits jobs: a job recorded before has no other submitter. */
  aloneSince?: Date | undefined;
  now(): Date;
}
