import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { startBatchServer } from '../../../../infra/local/batch/batch-server.ts';
import type { BatchJobStateChangeEvent } from '../../../../infra/local/batch/jobs/job-record.ts';
import { credentials, type Engines, region } from '../world/engines.ts';
import type { Program } from '../world/process.ts';
import type { Service } from '../world/service.ts';

export type Deliver = (event: BatchJobStateChangeEvent) => Promise<void>;

/** A Batch of its own, in which one life after the other is lived. */
export interface Lane {
  folder: string;
  engines: Engines;
  batchUrl: string;
  program: Program;
  /** What the containers get besides what their job says. */
  hostEnvironment: Record<string, string>;
  /** Where its events go. */
  setDeliver(deliver: Deliver): void;
  /** Whether the event that tells of the job's end was taken, or lost for good. */
  hasHeardTheEnd(batchJobId: string): boolean;
  /** Resolves when the next event that tells of an end was taken. */
  nextEnd(): Promise<void>;
}

/** Job definitions: after a kill, Batch runs the one again, as after the loss of a host, and gives the other up. */
export const definitions = { once: 'train', again: 'train-again' } as const;

/** Starts it. With `command`, containers run that instead of the training. */
export async function startLane(
  started: AsyncDisposableStack,
  {
    folder,
    engines,
    program,
    command,
  }: Pick<Lane, 'folder' | 'engines' | 'program'> & { command?: string[] },
): Promise<Lane> {
  await mkdir(folder, { recursive: true });
  await chmod(folder, 0o711);
  const heard = new Set<string>();
  let next = Promise.withResolvers<void>();
  // Commands tell outside their sandbox that they ran.
  const sandbox = JSON.stringify({ hidden: [], readable: [], writable: [folder] });
  const hostEnvironment: Record<string, string> = { SANDBOX: sandbox };
  let deliver: Deliver = async () => undefined;
  const definition = {
    command: command ?? [process.execPath, program.file, 'container'],
    environment: {},
    vcpus: 1,
    memory: 512,
    attempts: 3,
    type: 'container' as const,
  };
  const killed = (action: 'RETRY' | 'EXIT') => [
    { action, onExitCode: '137' },
    { action: 'EXIT' as const, onReason: '*' },
  ];
  const server = await startBatchServer({
    folder: join(folder, 'batch'),
    port: 0,
    region,
    credentials,
    queues: [
      { name: 'train', maxJobs: 3 },
      { name: 'cluster', maxJobs: 1 },
    ],
    jobDefinitions: [
      { ...definition, name: definitions.once, evaluateOnExit: killed('EXIT') },
      { ...definition, name: definitions.again, evaluateOnExit: killed('RETRY') },
      { ...definition, name: 'cluster', type: 'multinode', numNodes: 2, evaluateOnExit: killed('EXIT') },
    ],
    hostEnvironment,
    logFolder: join(folder, 'logs'),
    minimumTimeoutSeconds: 1,
    stopGraceSeconds: 10,
    async deliver(event) {
      await deliver(event);
      const { status, jobId = '' } = event.detail;
      if (status !== 'SUCCEEDED' && status !== 'FAILED') return;
      heard.add(jobId);
      next.resolve();
      next = Promise.withResolvers();
    },
  });
  started.defer(() => server.close({ grace: 0 }));
  return {
    folder,
    engines,
    program,
    batchUrl: server.url,
    hostEnvironment,
    setDeliver(given) {
      deliver = given;
    },
    hasHeardTheEnd: (id) => heard.has(id),
    nextEnd: () => next.promise,
  };
}

/** Tells the containers of a lane of the service whose jobs they run. */
export function prepareContainers(
  { hostEnvironment, folder, program }: Lane,
  service: Pick<Service, 'environment'>,
  more: Readonly<Record<string, string>> = {},
): void {
  const { ACCOUNTS_TABLE: _, ...environment } = service.environment;
  const { AWS_ACCESS_KEY_ID = '', AWS_SECRET_ACCESS_KEY = '', PATH = '' } = process.env;
  Object.assign(hostEnvironment, environment, {
    AWS_ACCESS_KEY_ID,
    AWS_SECRET_ACCESS_KEY,
    WORK_DIR: join(folder, 'work'),
    ENVIRONMENTS_DIR: join(folder, 'environments'),
    NODE_COMPILE_CACHE: program.cache,
    PATH,
    ...more,
  });
}
