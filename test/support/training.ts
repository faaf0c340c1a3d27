import { createHash } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { create as createTar } from 'tar';
import { inject, onTestFinished } from 'vitest';
import { event as jobStateChanged } from '../../functions/events/job-state-changed.event.ts';
import { event as reconcile } from '../../functions/events/reconcile.event.ts';
import { endpoint as readExperiment } from '../../functions/experiments/records/read-experiment.endpoint.ts';
import { endpoint as readLogs } from '../../functions/experiments/records/read-logs.endpoint.ts';
import { endpoint as putConfig } from '../../functions/projects/configs/put-config.endpoint.ts';
import { endpoint as putEnvironment } from '../../functions/projects/environment/put-environment.endpoint.ts';
import { endpoint as putSource } from '../../functions/projects/uploads/put-source.endpoint.ts';
import { endpoint as requestUpload } from '../../functions/projects/uploads/request-source-upload.endpoint.ts';
import { eventEnvironment, jobRoleVariables } from '../../infra/local/access/local-roles.ts';
import {
  type BatchServerOptions,
  type RunningBatch,
  startBatchServer,
} from '../../infra/local/batch/batch-server.ts';
import { findExperiment } from '../../shared/data/experiments/experiment.ts';
import { taskHandler } from '../../shared/http/definition/task.ts';
import { maxLosses, retryRules } from '../../shared/jobs/host-loss.ts';
import { newProject } from '../integration/projects/new-project.ts';
import { testCredentials, testRegion } from './emulators.ts';
import { grantingEmulator } from './granting-emulator.ts';
import { jobCommand } from './job-programs.ts';
import { type Answer, type TestService, type TestUser, testService } from './service.ts';

/** A service with a Batch of its own, whose jobs are real processes that run the real training program. */
export interface TrainingService extends TestService {
  batch: RunningBatch;
  developer: TestUser;
  folder: string;
  /** Compares every unfinished job with Batch. */
  reconcile(): Promise<void>;
  /** A project with a configuration, a source of these files and an environment. */
  project(given: {
    command: string;
    files?: Readonly<Record<string, string | Uint8Array>>;
    env_type?: string;
    dependencies?: string;
  }): Promise<string>;
  /** Waits until the experiment satisfies the condition. */
  until(
    project_id: string,
    experiment_id: string,
    condition: (experiment: Answer['json']) => boolean,
  ): Promise<Answer['json']>;
  ended(project_id: string, experiment_id: string): Promise<Answer['json']>;
  log(project_id: string, experiment_id: string, node?: number): Promise<string>;
}

const isOver = ({ status }: Answer['json']): boolean => ['SUCCEEDED', 'FAILED', 'CANCELLED'].includes(status);

async function archive(files: Readonly<Record<string, string | Uint8Array>>): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), 'mps-source-'));
  for (const [name, text] of Object.entries(files)) {
    await mkdir(join(folder, name, '..'), { recursive: true });
    await writeFile(join(folder, name), text);
  }
  const file = `${folder}.tar.gz`;
  await createTar({ gzip: true, file, cwd: folder }, Object.keys(files));
  const bytes = await readFile(file);
  await rm(folder, { recursive: true });
  await rm(file);
  return bytes;
}

/** Puts bytes as a project's source, by presigned URL as a client does. */
export async function uploadSource(
  service: TestService,
  as: TestUser,
  project_id: string,
  bytes: Uint8Array,
): Promise<void> {
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const path = { project_id };
  const asked = await service.call(requestUpload, {
    path,
    query: { sha256, size: String(bytes.length) },
    as,
  });
  const { url, method, headers } = asked.json.upload;
  const { 'content-length': _, ...sent } = headers;
  const put = await fetch(url, { method, headers: sent, body: Buffer.from(bytes) });
  if (!put.ok) throw new Error(`the upload was refused: ${await put.text()}`);
  const made = await service.call(putSource, { path, query: { sha256 }, as });
  if (made.status !== 200) throw new Error(`the source was refused: ${made.text}`);
}

const root = join(import.meta.dirname, '../..');

/**
 * What all job definitions have in common here: tried again as on AWS. Programs see the checkout, which holds the tests'
 * Python, even below `/tmp`, of which each has one of its own.
 */
export const usualDefinition = {
  command: jobCommand('functions/jobs/train.job.ts'),
  environment: { SANDBOX: JSON.stringify({ hidden: [], readable: [root], writable: [] }) },
  vcpus: 1,
  memory: 512,
  attempts: maxLosses,
  evaluateOnExit: retryRules,
};

/** Starts it; everything ends with the test, or when `atEnd` says. */
export async function trainingService(
  options: Partial<BatchServerOptions> = {},
  more: Readonly<Record<string, string>> = {},
  atEnd: (end: () => Promise<unknown>) => void = (end) => onTestFinished(async () => void (await end())),
): Promise<TrainingService> {
  const folder = await mkdtemp(join(tmpdir(), 'mps-training-'));
  // As root, jobs run as users of their own, who have to pass through.
  await chmod(folder, 0o711);
  atEnd(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  let deliver: (event: unknown) => Promise<unknown> = async () => undefined;
  // Batch must be there before the environment that names it, and its jobs need that environment: so it is filled in later.
  const jobEnvironment: Record<string, string> = {};
  const batch = await startBatchServer({
    folder: join(folder, 'batch'),
    port: 0,
    region: testRegion,
    credentials: testCredentials,
    queues: [
      { name: 'train', maxJobs: 4, platform: 'FARGATE' },
      { name: 'gpu', maxJobs: 1, platform: 'EC2' },
      { name: 'cluster', maxJobs: 1, platform: 'EC2' },
    ],
    jobDefinitions: [
      { ...usualDefinition, name: 'train', type: 'container', platform: 'FARGATE' },
      { ...usualDefinition, name: 'gpu', type: 'container', platform: 'EC2' },
      { ...usualDefinition, name: 'cluster', type: 'multinode', platform: 'EC2', numNodes: 2 },
    ],
    hostEnvironment: jobEnvironment,
    roleEnvironment: (definition) =>
      jobRoleVariables(
        definition.startsWith('prune') ? 'prune' : definition.startsWith('quantize') ? 'quantize' : 'train',
        jobEnvironment,
        testCredentials,
      ),
    deliver: async (event) => void (await deliver(event)),
    logFolder: join(folder, 'logs'),
    minimumTimeoutSeconds: 1,
    ...options,
  });
  atEnd(() => batch.close({ grace: 0 }));
  const service = await testService({ BATCH_ENDPOINT: batch.url, ...more });
  const { ACCOUNTS_TABLE: _, ...given } = service.environment;
  // The emulator checks no grants: jobs reach it through what does.
  const granted = await grantingEmulator();
  atEnd(() => granted.close());
  Object.assign(jobEnvironment, given, {
    ...(given['DYNAMODB_ENDPOINT'] === inject('dynamoDbUrl') && { DYNAMODB_ENDPOINT: granted.url }),
    AWS_ACCESS_KEY_ID: testCredentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: testCredentials.secretAccessKey,
    NODE_COMPILE_CACHE: join(inject('jobPrograms'), 'compiled'),
    WORK_DIR: join(folder, 'work'),
    ENVIRONMENTS_DIR: join(folder, 'environments'),
  });
  deliver = taskHandler(
    jobStateChanged,
    eventEnvironment(jobStateChanged, service.environment, testCredentials),
  );
  const reconcileNow = taskHandler(
    reconcile,
    eventEnvironment(reconcile, service.environment, testCredentials),
  );
  const developer = await service.user('developer');

  const read = async (project_id: string, experiment_id: string) => {
    const answer = await service.call(readExperiment, { path: { project_id, experiment_id }, as: developer });
    if (answer.status !== 200) throw new Error(answer.text);
    return answer.json;
  };
  const until: TrainingService['until'] = async (project_id, experiment_id, condition) => {
    let seen: unknown;
    for (let look = 0; ; look += 1) {
      // A look at the record takes a fraction of a request. One follows where the record has changed, and now and then
      // all the same: it may tell the time, or compare with Batch.
      const record = await findExperiment(service.records, project_id, experiment_id);
      if (look % 20 === 0 || !isDeepStrictEqual(record, seen)) {
        const experiment = await read(project_id, experiment_id);
        if (condition(experiment)) return experiment;
        if (isOver(experiment)) throw new Error(`ended meanwhile: ${JSON.stringify(experiment, null, 1)}`);
      }
      seen = record;
      await sleep(Math.min(50 + 5 * look, 250));
    }
  };

  return {
    ...service,
    batch,
    developer,
    folder,
    until,
    reconcile: () => reconcileNow(undefined),
    ended: (project_id, experiment_id) => until(project_id, experiment_id, isOver),

    async project({
      command,
      files = { 'README.md': 'nothing' },
      env_type = 'system',
      dependencies = 'none',
    }) {
      const project_id = await newProject(service, developer);
      const path = { project_id };
      const config = await service.call(putConfig, {
        path: { ...path, config_id: 'train.yaml' },
        body: 'epochs: 3\n',
        headers: { 'Content-Type': 'application/yaml' },
        as: developer,
      });
      if (config.status !== 200) throw new Error(config.text);
      const query = { entry_point_command: command, env_type, dependencies };
      const environment = await service.call(putEnvironment, { path, query, as: developer });
      if (environment.status !== 200) throw new Error(environment.text);
      await uploadSource(service, developer, project_id, await archive(files));
      return project_id;
    },

    async log(project_id, experiment_id, node = 0) {
      const answer = await service.call(readLogs, {
        path: { project_id, experiment_id },
        query: { node: String(node) },
        headers: { Accept: 'text/plain' },
        as: developer,
      });
      return answer.text;
    },
  };
}
