import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism, homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { thisHost } from '../../../../shared/host/this-host.ts';
import { maxLosses, retryRules } from '../../../../shared/jobs/host-loss.ts';
import { installerSettings } from '../../../../shared/runner/environment/operator-environment.ts';
import type { HostSandbox } from '../../../../shared/runner/job/batch-container.ts';
import { jobRoleVariables } from '../../access/local-roles.ts';
import { type RunningBatch, startBatchServer } from '../../batch/batch-server.ts';
import type { LocalJobDefinition, LocalQueue } from '../../batch/catalogue.ts';
import type { DataFolder } from '../data-folder.ts';
import type { DataSize } from '../data-size.ts';
import { type EmulatorAccess, jobSlots, jobVariables } from '../function-environment.ts';
import type { JobFolders } from '../job-folders.ts';
import { localSpotQueue, localSpotSeconds, spotVariable } from '../local-prices.ts';
import { jobEventDelivery } from './event-delivery.ts';
import { stageVariables } from './stage-files.ts';

/** Start the Batch server with the queues and job definitions of a deployment. */
export async function startBatch(options: LocalBatchOptions): Promise<RunningBatch> {
  const { data, program, access, folders, host, environment, size, ready } = options;
  const stage = await stageVariables(program, dirname(folders.work));
  const spot = environment[spotVariable];
  return startBatchServer({
    folder: data.within('batch'),
    logFolder: data.within('logs'),
    port: 0,
    host,
    region: access.region,
    credentials: access.credentials,
    queues: [
      { name: 'train', maxJobs: jobSlots(), platform: 'FARGATE' },
      ...(spot === undefined ? [] : [spotQueue(localSpotSeconds(spot))]),
      { name: 'gpu', maxJobs: 1, platform: 'EC2' },
      { name: 'cluster', maxJobs: 1, platform: 'EC2' },
    ],
    jobDefinitions: definitions(program),
    hostEnvironment: {
      LOG_LEVEL: 'info',
      ...thisHost.variables,
      ...jobVariables(environment, access),
      // Only package installers use these.
      ...installerSettings(environment),
      // The threads that compress environments.
      UV_THREADPOOL_SIZE: String(Math.max(4, availableParallelism())),
      WORK_DIR: folders.work,
      ENVIRONMENTS_DIR: folders.environments,
      // Each job is told what is left by then.
      get CACHE_BYTES() {
        return String(size.cacheBytes);
      },
      ...stage,
      SANDBOX: JSON.stringify(hostSandbox(data.path, program, folders, stage)),
    },
    ...(access.hasRoles && {
      roleEnvironment: (definition: string) =>
        jobRoleVariables(programOf(definition), environment, access.credentials),
    }),
    deliver: jobEventDelivery(access, data.within('dead-letters.jsonl'), ready),
  });
}

const spotQueue = (lossSeconds: number): LocalQueue => ({
  name: localSpotQueue,
  maxJobs: jobSlots(),
  platform: 'FARGATE',
  lossSeconds,
});

interface LocalBatchOptions {
  data: DataFolder;
  /** Folder of the bundle. */
  program: string;
  access: EmulatorAccess;
  folders: JobFolders;
  /** Listen address. */
  host: string;
  environment: Readonly<Record<string, string | undefined>>;
  size: Pick<DataSize, 'cacheBytes'>;
  /** Resolves once functions may run: events wait for it. */
  ready: Promise<void>;
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
    attempts: maxLosses,
    evaluateOnExit: retryRules,
  });
  return [
    { ...running('train'), name: 'train', type: 'container', platform: 'FARGATE' },
    { ...running('train'), name: 'gpu', type: 'container', platform: 'EC2' },
    { ...running('train'), name: 'cluster', type: 'multinode', platform: 'EC2', numNodes: 2 },
    { ...running('prune'), name: 'prune', type: 'container', platform: 'FARGATE' },
    { ...running('quantize'), name: 'quantize', type: 'container', platform: 'FARGATE' },
  ];
}

/**
 * Build the sandbox of the jobs. In the data folder, a job sees only its own run. Jobs that run as the user who
 * started the service cannot change the home folder or this program. Jobs with their own users have no rights
 * there.
 *
 * @param stage variables of the copies that stages run from if they cannot read the program
 */
function hostSandbox(
  dataFolder: string,
  program: string,
  { work }: JobFolders,
  stage: Readonly<Record<string, string>>,
): HostSandbox {
  const isRoot = process.getuid?.() === 0;
  const isProgramReadable = Object.keys(stage).length === 0;
  const packages = packagesRoot(program);
  return {
    hidden: [...new Set([dataFolder, dirname(work)])],
    absent: projectsAbove(work, packages),
    writable: [],
    readable: [...(isRoot ? [] : [homedir()]), ...(isProgramReadable ? [packages, program] : [])],
  };
}

/**
 * Return the files in the folders above a job that programs would take for those of their own project: git repositories
 * (folders `.git`, and files of that name in worktrees and submodules), for which libraries search upwards (dvclive,
 * MLflow, setuptools-scm), and what Node and TypeScript read in the checkout of the service.
 */
function projectsAbove(work: string, checkout: string): string[] {
  const found: string[] = [];
  for (let folder = dirname(work); ; folder = dirname(folder)) {
    const names = folder === checkout ? ['.git', 'package.json', 'tsconfig.json'] : ['.git'];
    found.push(...names.map((name) => join(folder, name)).filter((path) => existsSync(path)));
    if (folder === dirname(folder)) return found;
  }
}

/** Return the folder of the `node_modules` that holds the packages of a bundle. */
function packagesRoot(program: string): string {
  const file = createRequire(join(program, 'package.json')).resolve('onnxruntime-node');
  return dirname(file.slice(0, file.lastIndexOf('/node_modules/') + '/node_modules'.length));
}

/** Return the program of a job definition. */
const programOf = (definition: string): 'train' | 'prune' | 'quantize' =>
  definition === 'prune' || definition === 'quantize' ? definition : 'train';
