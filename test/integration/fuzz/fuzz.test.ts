import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { endpoint as putConfig } from '../../../functions/projects/configs/put-config.endpoint.ts';
import { endpoint as putEnvironment } from '../../../functions/projects/environment/put-environment.endpoint.ts';
import { endpoint as trainProject } from '../../../functions/projects/training/train-project.endpoint.ts';
import { type RunningBatch, startBatchServer } from '../../../infra/local/batch/batch-server.ts';
import { loadOperations } from '../../../infra/service/endpoints.ts';
import { serviceDocument } from '../../../infra/service/openapi-document.ts';
import { encodeCursor } from '../../../shared/http/definition/cursor.ts';
import type { AnyEndpoint } from '../../../shared/http/definition/middleware.ts';
import { testCredentials, testRegion } from '../../support/emulators.ts';
import { everySample } from '../../support/samples.ts';
import fc from '../../support/seeded-fast-check.ts';
import { type TestService, type TestUser, testService } from '../../support/service.ts';
import { newProject } from '../projects/new-project.ts';
import { judge } from './judge.ts';
import { type Known, requestsTo } from './requests.ts';

const loaded = await loadOperations(join(import.meta.dirname, '../../../functions'));
const { paths } = serviceDocument(loaded);

/** Requests to each endpoint; FUZZ_REQUESTS asks for more in a longer hunt. */
const requestsEach = Number(process.env['FUZZ_REQUESTS'] ?? (everySample ? 4 : 1));
/** Milliseconds for one endpoint on a machine that has a lot else to do. */
const timeout = 300_000 + 500 * requestsEach;

let folder: string;
let batch: RunningBatch;
let service: TestService;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mps-fuzz-'));
  const job = { command: ['/bin/true'], environment: {}, vcpus: 1, memory: 512, attempts: 1 };
  batch = await startBatchServer({
    folder: join(folder, 'batch'),
    port: 0,
    region: testRegion,
    credentials: testCredentials,
    queues: [
      { name: 'train', maxJobs: 2 },
      { name: 'gpu', maxJobs: 1 },
      { name: 'cluster', maxJobs: 1 },
    ],
    jobDefinitions: [
      { ...job, name: 'train', type: 'container' },
      { ...job, name: 'gpu', type: 'container' },
      { ...job, name: 'cluster', type: 'multinode', numNodes: 2 },
    ],
    deliver: async () => undefined,
    logFolder: join(folder, 'logs'),
  });
  service = await testService({
    BATCH_ENDPOINT: batch.url,
    LIMIT_UNFINISHED_JOBS: '1000',
    LIMIT_VCPUS: '100000',
    LOG_LEVEL: 'error',
  });
});

afterAll(async () => {
  await batch.close({ grace: 0 });
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
});

type Caller = TestUser | undefined;

/** Somebody of every kind, new each time: among the requests are some that sign out or delete whoever calls. */
async function everybody(): Promise<[TestUser, ...Caller[]]> {
  const developer = await service.user('developer');
  const types = ['developer', 'admin', 'viewer', 'guest'] as const;
  const others = await Promise.all(types.map((type) => service.user(type)));
  return [developer, developer, developer, developer, ...others, undefined];
}

/** A project of the developer with something of everything in it, and the values that lead to what there is. */
async function somethingKnown(developer: TestUser, callers: readonly Caller[]): Promise<Known> {
  const project_id = await newProject(service, developer);
  const config = { path: { project_id, config_id: 'train.yaml' }, as: developer };
  const environment = { entry_point_command: 'true', env_type: 'system', dependencies: 'none' };
  await service.call(putConfig, {
    ...config,
    body: 'stages:\n  a: {cmd: x}\n',
    headers: { 'Content-Type': 'text/yaml' },
  });
  await service.call(putEnvironment, { path: { project_id }, query: environment, as: developer });
  const begun = await service.call(trainProject, {
    path: { project_id },
    query: { config: 'train.yaml' },
    as: developer,
  });
  expect(begun.status, begun.text).toBe(200);
  return {
    project_id: [project_id],
    experiment_id: [begun.json.experiment_id],
    config_id: ['train.yaml', 'other.json'],
    config: ['train.yaml'],
    dataset: ['digits'],
    username: callers.flatMap((one) => (one === undefined ? [] : [one.user.username])),
    user_id: callers.flatMap((one) => (one === undefined ? [] : [one.user.user_id])),
    password: ['a long sentence nobody guesses'],
    grant_type: ['password'],
    entry_point_command: ['python train.py {config}'],
    dependencies: ['none', 'numpy==2.0'],
    file: ['a: 1', '{"a": 1}', 'stages: {a: {deps: [b]}}'],
    vcpus: ['1', '2'],
    memory: ['2048', '4096'],
    cursor: [
      'YWZ0ZXI6YQ',
      ...['a', '01jgk7y4m8s2v6x0b3n9q5r1tz'].flatMap((key) =>
        loaded.map(({ endpoint: { name } }) => encodeCursor({ name, path: {}, query: {} }, key)),
      ),
    ],
  };
}

interface World {
  callers: Awaited<ReturnType<typeof everybody>>;
  known: Known;
}

async function newWorld(): Promise<World> {
  const callers = await everybody();
  return { callers, known: await somethingKnown(callers[0], callers) };
}

let sharedWorld: Promise<World> | undefined;
/** They take something or somebody out of the world that others need. */
const takesAway = ({ method, name }: AnyEndpoint): boolean =>
  method === 'DELETE' || ['changePassword', 'changeUserType', 'transferProject'].includes(name);

/** What all requests leave in place they may share; making it takes longer than the requests of most endpoints. */
function worldFor(endpoint: AnyEndpoint): Promise<World> {
  if (takesAway(endpoint)) return newWorld();
  sharedWorld ??= newWorld();
  return sharedWorld;
}

describe.each(loaded.map(({ endpoint }) => [endpoint.name, endpoint] as const))('%s', (_, endpoint) => {
  test(
    'answers whatever it is sent as it declares',
    async () => {
      const operation = paths[endpoint.path.replace('+}', '}')]?.[endpoint.method.toLowerCase()];
      if (operation === undefined) throw new Error('is not in the document');
      const { callers, known } = await worldFor(endpoint);
      const request = fc.tuple(requestsTo(endpoint, known), fc.constantFrom(...callers));
      await fc.assert(
        fc.asyncProperty(request, async ([call, as]) => {
          judge(endpoint, operation, await service.call(endpoint, as === undefined ? call : { ...call, as }));
        }),
        { numRuns: requestsEach },
      );
      expect(known['project_id']).toHaveLength(1);
    },
    timeout,
  );
});
