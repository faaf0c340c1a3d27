import type { Settings } from '../core/settings.ts';
import { isStrategy, type JobRecord } from './subject.ts';

/** Kinds of places that a training runs in: a Fargate container, a node with GPUs, the nodes of a cluster. */
export type TrainingPlace = 'train' | 'gpu' | 'cluster';

/** Whether a job is a multi-node one. */
export const isOnCluster = ({ kind }: Pick<JobRecord, 'kind'>): boolean => kind === 'train-remote';

function trainingPlace(record: Pick<JobRecord, 'kind' | 'gpus'>): TrainingPlace {
  if (isOnCluster(record)) return 'cluster';
  return record.gpus > 0 ? 'gpu' : 'train';
}

/** The queue and definition by which Batch runs a job. */
export function placeOf(record: JobRecord, settings: Settings): { queue: string; definition: string } {
  if (isStrategy(record)) return settings[record.kind];
  const place = trainingPlace(record);
  const { env_type, dependencies } = record.environment;
  // No submission can change the image of a definition, so each trusted one has definitions of its own.
  const own = env_type === 'docker' ? settings.trustedImages?.[dependencies.trim()]?.[place] : undefined;
  return own === undefined ? settings[place] : { queue: settings[place].queue, definition: own };
}
