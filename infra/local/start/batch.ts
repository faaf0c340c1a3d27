import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { LocalJobDefinition } from '../batch/catalogue.ts';
import { type RunningBatch, startBatchServer } from '../batch/server.ts';
import type { DataFolder } from './data-folder.ts';
import { deliverJobEvent } from './events.ts';
import { jobVariables, type Place } from './function-environment.ts';
import type { JobFolders } from './job-folders.ts';

export interface LocalBatchOptions {
  data: DataFolder;
  /** Folder of the bundle. */
  program: string;
  place: Place;
  folders: JobFolders;
  environment: Readonly<Record<string, string | undefined>>;
}

/** Runs again what was lost with its host, and nothing that ended by itself. */
const evaluateOnExit = [
  { action: 'RETRY', onStatusReason: 'Host EC2*' },
  { action: 'EXIT', onReason: '*' },
] as const;

function definitions(program: string): LocalJobDefinition[] {
  const inProgram = (file: string) => join(program, file);
  const common = {
    command: [
      process.execPath,
      inProgram('infra/local/start/run-job.js'),
      inProgram('functions/jobs/train.job.js'),
    ],
    environment: {},
    vcpus: 1,
    memory: 2048,
    attempts: 3,
    evaluateOnExit,
  };
  return [
    { ...common, name: 'train', type: 'container' },
    { ...common, name: 'cluster', type: 'multinode', numNodes: 2 },
  ];
}

/** Starts the Batch server with the queues and job definitions that a deployment has. */
export function startBatch(options: LocalBatchOptions): Promise<RunningBatch> {
  const { data, program, place, folders, environment } = options;
  return startBatchServer({
    folder: data.within('batch'),
    logFolder: data.within('logs'),
    port: 0,
    region: place.region,
    credentials: place.credentials,
    queues: [
      { name: 'train', maxJobs: Math.max(2, availableParallelism()) },
      { name: 'cluster', maxJobs: 1 },
    ],
    jobDefinitions: definitions(program),
    hostEnvironment: {
      LOG_LEVEL: 'info',
      ...jobVariables(environment, place),
      WORK_DIR: folders.work,
      ENVIRONMENTS_DIR: folders.environments,
    },
    deliver: deliverJobEvent,
  });
}
