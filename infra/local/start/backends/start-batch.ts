import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { installerSettings } from '../../../../shared/runner/environment/operator-environment.ts';
import { attempts, evaluateOnExit } from '../../../service/retry-rules.ts';
import { jobRoleVariables } from '../../access/local-roles.ts';
import { type RunningBatch, startBatchServer } from '../../batch/batch-server.ts';
import type { LocalJobDefinition } from '../../batch/catalogue.ts';
import type { DataFolder } from '../data-folder.ts';
import { type EngineAccess, jobVariables } from '../function-environment.ts';
import { jobSlots } from '../job-slots.ts';
import { hostSandbox } from './host-sandbox.ts';
import { jobEventDelivery } from './job-event-delivery.ts';
import type { JobFolders } from './job-folders.ts';
import { stageVariables } from './stage-files.ts';

export interface LocalBatchOptions {
  data: DataFolder;
  /** Folder of the bundle. */
  program: string;
  access: EngineAccess;
  folders: JobFolders;
  /** Address that it listens on. */
  host: string;
  environment: Readonly<Record<string, string | undefined>>;
}

function definitions(program: string): LocalJobDefinition[] {
  const inProgram = (file: string) => join(program, file);
  const running = (job: 'train' | 'prune' | 'quantize') => ({
    command: [
      process.execPath,
      inProgram('infra/aws/job-image/run-job.js'),
      inProgram(`functions/jobs/${job}.job.js`),
    ],
    environment: {},
    vcpus: 1,
    memory: 2048,
    attempts,
    evaluateOnExit,
  });
  return [
    { ...running('train'), name: 'train', type: 'container', platform: 'FARGATE' },
    { ...running('train'), name: 'gpu', type: 'container', platform: 'EC2' },
    { ...running('train'), name: 'cluster', type: 'multinode', platform: 'EC2', numNodes: 2 },
    { ...running('prune'), name: 'prune', type: 'container', platform: 'FARGATE' },
    { ...running('quantize'), name: 'quantize', type: 'container', platform: 'FARGATE' },
  ];
}

/** The program that a job definition runs. */
const programOf = (definition: string): 'train' | 'prune' | 'quantize' =>
  definition === 'prune' || definition === 'quantize' ? definition : 'train';

/** Starts the Batch server with the queues and job definitions that a deployment has. */
export async function startBatch(options: LocalBatchOptions): Promise<RunningBatch> {
  const { data, program, access, folders, host, environment } = options;
  const stage = await stageVariables(program, dirname(folders.work));
  return startBatchServer({
    folder: data.within('batch'),
    logFolder: data.within('logs'),
    port: 0,
    host,
    region: access.region,
    credentials: access.credentials,
    queues: [
      { name: 'train', maxJobs: jobSlots(), platform: 'FARGATE' },
      { name: 'gpu', maxJobs: 1, platform: 'EC2' },
      { name: 'cluster', maxJobs: 1, platform: 'EC2' },
    ],
    jobDefinitions: definitions(program),
    hostEnvironment: {
      LOG_LEVEL: 'info',
      ...jobVariables(environment, access),
      // Only installers of packages go by them.
      ...installerSettings(environment),
      // Environments are compressed on as many threads.
      UV_THREADPOOL_SIZE: String(Math.max(4, availableParallelism())),
      WORK_DIR: folders.work,
      ENVIRONMENTS_DIR: folders.environments,
      ...stage,
      SANDBOX: JSON.stringify(hostSandbox(data.path, program, folders, stage)),
    },
    ...(access.hasRoles && {
      roleEnvironment: (definition: string) =>
        jobRoleVariables(programOf(definition), environment, access.credentials),
    }),
    deliver: jobEventDelivery(access, data.within('dead-letters.jsonl')),
  });
}
