import type { Settings } from '../endpoint/settings.ts';
import { isStrategy, type JobRecord } from './subject.ts';

/** Whether a job runs on the nodes of a cluster, be it one; GPUs are only there. */
export const isOnCluster = (record: JobRecord): boolean => record.kind === 'train-remote' || record.gpus > 0;

/** The queue and definition by which Batch runs a job. */
export function placeOf(record: JobRecord, settings: Settings): { queue: string; definition: string } {
  if (isStrategy(record)) return settings[record.kind];
  const place = isOnCluster(record) ? 'cluster' : 'train';
  const { env_type, dependencies } = record.environment;
  // No submission can change the image of a definition, so each trusted one has definitions of its own.
  const own = env_type === 'docker' ? settings.trustedImages?.[dependencies.trim()] : undefined;
  return own === undefined ? settings[place] : { queue: settings[place].queue, definition: own[place] };
}
