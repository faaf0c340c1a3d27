import { homedir } from 'node:os';
import { markerName } from './job-process.ts';
import type { JobRecord } from './job-record.ts';

/** AWS_BATCH_JOB_ID of a node: the job's id, with the index behind it where the job has nodes. */
export function nodeId(job: JobRecord, index: number): string {
  return job.multinode ? `${job.id}#${index}` : job.id;
}

/**
 * The whole environment of a node's process: what any program needs, then what the host gives, then the
 * definition's and the submission's variables, then those of AWS Batch. Nothing else of the server's own environment gets through.
 */
export function processVariables(
  job: JobRecord,
  index: number,
  attempt: number,
  { own, given }: { own: NodeJS.ProcessEnv; given: Readonly<Record<string, string>> },
): Record<string, string> {
  const container = job.containers[job.nodes[index]?.container ?? 0];
  return {
    PATH: own['PATH'] ?? '/usr/local/bin:/usr/bin:/bin',
    HOME: own['HOME'] ?? homedir(),
    LANG: own['LANG'] ?? 'C.UTF-8',
    TZ: own['TZ'] ?? 'UTC',
    ...given,
    ...Object.fromEntries(container?.environment.map(({ name, value }) => [name, value]) ?? []),
    [markerName]: nodeId(job, index),
    AWS_BATCH_JOB_ATTEMPT: String(attempt),
    AWS_BATCH_JQ_NAME: job.queue,
    AWS_BATCH_CE_NAME: 'local',
    ...(job.multinode && {
      AWS_BATCH_JOB_NODE_INDEX: String(index),
      AWS_BATCH_JOB_NUM_NODES: String(job.nodes.length),
      AWS_BATCH_JOB_MAIN_NODE_INDEX: '0',
      ...(index !== 0 && { AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS: '127.0.0.1' }),
    }),
  };
}
