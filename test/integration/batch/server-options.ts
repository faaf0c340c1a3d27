import { join } from 'node:path';
import type { BatchServerOptions } from '../../../infra/local/batch/batch-server.ts';
import type { LocalJobDefinition } from '../../../infra/local/batch/catalogue.ts';

export const region = 'eu-central-1';
export const credentials = { accessKeyId: 'local', secretAccessKey: 'a secret of the tests' };

const base = { command: ['/bin/true'], environment: {}, vcpus: 1, memory: 512, attempts: 1 } as const;

/** Definitions as the tests need them; the commands come with the submissions. */
export const jobDefinitions: readonly LocalJobDefinition[] = [
  { ...base, name: 'once', type: 'container', environment: { GREETING: 'hello', KEPT: 'kept' } },
  {
    ...base,
    name: 'spot',
    type: 'container',
    attempts: 3,
    evaluateOnExit: [
      { action: 'RETRY', onStatusReason: 'Host EC2*' },
      { action: 'EXIT', onReason: '*' },
    ],
  },
  { ...base, name: 'nodes', type: 'multinode', numNodes: 2 },
];

/** Options of a server in `folder` that takes timeouts and graces of a second. */
export function optionsIn(folder: string): BatchServerOptions {
  return {
    folder,
    port: 0,
    region,
    credentials,
    queues: [
      { name: 'wide', maxJobs: 8 },
      { name: 'narrow', maxJobs: 1 },
    ],
    jobDefinitions,
    deliver: async () => undefined,
    logFolder: join(folder, 'logs'),
    minimumTimeoutSeconds: 1,
    stopGraceSeconds: 1,
  };
}
