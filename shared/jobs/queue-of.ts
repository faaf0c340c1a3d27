import type { Settings } from '../core/settings.ts';
import { isStrategy, type JobRecord } from './subject.ts';

/** Where a training runs: in a Fargate container, on a node with GPUs, or on the nodes of a cluster. */
export type TrainingPlace = 'train' | 'gpu' | 'cluster';

/** Whether a job is a multi-node job of Batch. */
export const isOnCluster = ({ kind }: Pick<JobRecord, 'kind'>): boolean => kind === 'train-remote';

function trainingPlace(record: Pick<JobRecord, 'kind' | 'gpus'>): TrainingPlace {
  if (isOnCluster(record)) return 'cluster';
  return record.gpus > 0 ? 'gpu' : 'train';
}

/** The queue and the job definition with which a job is submitted. */
export function queueOf(record: JobRecord, settings: Settings): { queue: string; definition: string } {
  if (isStrategy(record)) return settings[record.kind];
  const place = trainingPlace(record);
  const { env_type, dependencies } = record.environment;
  // A submission cannot change the image of a job definition, so each trusted image has its own.
  const own = env_type === 'docker' ? settings.trustedImages?.[dependencies.trim()]?.[place] : undefined;
  const { queue, definition } = settings[place];
  return {
    // Nodes without GPUs and such with some have a queue each, so that none of the former waits for one of the latter.
    queue: place === 'cluster' && record.gpus > 0 ? settings.cluster.gpuQueue : queue,
    definition: own ?? definition,
  };
}
