import type { Settings } from '../endpoint/settings.ts';
import { isStrategy, type JobRecord } from './subject.ts';

/** Whether a job runs on the nodes of a cluster, be it one; GPUs are only there. */
export const isOnCluster = (record: JobRecord): boolean => record.kind === 'train-remote' || record.gpus > 0;

/** The queue and definition by which Batch runs a job. */
export function placeOf(record: JobRecord, settings: Settings): { queue: string; definition: string } {
  if (isStrategy(record)) return settings[record.kind];
  return isOnCluster(record) ? settings.cluster : settings.train;
}
