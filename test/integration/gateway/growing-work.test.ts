import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { startGateway } from '../../../infra/local/gateway/gateway-server.ts';
import { loadEndpoints } from '../../../infra/service/endpoints.ts';
import { putExperiment } from '../../../shared/data/experiments/experiment.ts';
import { appendLog } from '../../../shared/data/jobs/job-log.ts';
import { takeLease } from '../../../shared/data/jobs/lease.ts';
import { appendMetrics } from '../../../shared/data/metrics/job-metrics.ts';
import type { AnyEndpoint } from '../../../shared/http/definition/exchange.ts';
import { experimentOf } from '../../support/experiment.ts';
import { type TestService, type TestUser, testService } from '../../support/service.ts';
import { tableRequests } from '../../support/table-requests.ts';
import { lease, time } from '../experiments/held-lease.ts';
import { newProject } from '../projects/new-project.ts';
import { served } from './served.ts';

/**
 * What a request may read whose work grows with a run, a project or all projects. `heavy`: a few at a time, equal ones
 * once, stopped with the request (`shared/http/pipeline/heavy-work.ts`). `page`: so much, and a cursor to what follows. `later`:
 * the request only notes the work, which passes of the background do in steps.
 */
const growing: Readonly<Record<string, `${'heavy' | 'page' | 'later' | 'thread'}: ${string}`>> = {
  compareExperiments:
    'heavy: 50 experiments, 64 MB of source archives, 2,000,000 characters and steps of diffs',
  listExperiments:
    'heavy: with a filter or order, and of deleted ones, all rows of the project, a page of records; otherwise a page',
  searchExperiments: 'heavy: rows of 1,000 projects, 16 at once; a page of records',
  readExperimentMetrics:
    'heavy: chart, curves and chosen metrics read the points in blocks, of which 160 MB are kept; a page has 40,000 points or 3 MB',
  serveMlflow: 'heavy: searches and histories, each a page of 4 MB; the others a page or single records',
  readConfigGraph: 'thread: one file of at most 1 MB, 15 s on a thread of its own, 8 waiting',
  readExperimentConfigGraph: 'thread: one file of at most 1 MB, 15 s on a thread of its own, 8 waiting',
  readExperimentLogs: 'page: 3 MB of lines, or the last 10,000',
  readPruneLogs: 'page: 3 MB of lines, or the last 10,000',
  readQuantizeLogs: 'page: 3 MB of lines, or the last 10,000',
  listMedia:
    'heavy: 10,000 artifacts of an experiment, 16,000 of all, 3 MB; `left` names the experiments that are left',
  readArtifacts: 'heavy: 200 files of together 3 MB',
  listArtifacts: 'page: the limit of every list',
  listConfigs: 'page: the limit of every list',
  listDatasets: 'page: the limit of every list',
  listMembers: 'page: the limit of every list',
  listModels: 'page: the limit of every list',
  listProjects: 'page: the limit of every list',
  listPruneStrategies: 'page: the limit of every list',
  listQuantizeStrategies: 'page: the limit of every list',
  listSessions: 'page: the limit of every list',
  listTokens: 'page: the limit of every list',
  listUsers: 'page: the limit of every list',
  listVariables: 'page: the limit of every list',
  listHooks: 'page: the limit of every list',
  listDeliveries: 'page: the limit of every list',
  testHook: 'page: sends messages of the hook that are due for 12 s; the worker sends the others',
  redeliverMessage: 'page: as testHook',
  listTrials: 'heavy: with an order all runs of the sweep, at most 10,000; otherwise a page',
  listSweeps: 'page: the limit of every list',
  createSweep: 'page: as many experiments as begin in 12 s; the reconciler begins the others',
  updateSweep: 'page: as many experiments as begin in 12 s',
  resumeSweep: 'page: as many experiments as begin in 12 s',
  retrySweep: 'page: reads at most 10,000 runs; as many experiments as begin in 12 s',
  cancelSweep: 'page: cancels as many experiments as run at once',
  deleteSweep: 'page: removes experiments for 12 s; the reconciler removes the others',
  createTrial: 'page: with TPE and grids no trial is asked for, so it reads those that run',
  logExperimentMetrics: 'page: 4 MB of points; compared with stored ones only where they do not rise',
  cancelExperiments: 'page: as many as end in the time of a request; `complete` says whether more are left',
  serveModels:
    'page: the index lists at most 1,000 models; a request to a model runs it in a process of its own for 25 s',
  deleteProject: 'later: a purge',
  deleteUser: 'later: a purge',
  deleteExperiment: 'later: a purge',
  exportProject: 'later: an export, in steps',
  requestImport: 'later: an import, in steps',
  putImport: 'later: an import, in steps',
};

/** Single records and objects, a number of them that does not grow, and bodies within their limits. */
const constant = [
  ...['createSession', 'deleteSession', 'deleteSessions', 'renewSession', 'revokeSession'],
  ...['createNamedToken', 'createToken', 'deleteToken', 'revokeToken', 'readConsoleFile', 'readConsole'],
  ...['cancelExperiment', 'createExperiment', 'downloadArtifact', 'logExperimentParams', 'putArtifact'],
  ...[
    'readExperiment',
    'requestArtifactUpload',
    'updateExperiment',
    'openMlflow',
    'createModel',
    'deleteModel',
  ],
  ...['putModel', 'readModel', 'cancelPruneStrategy', 'cancelQuantizeStrategy', 'createPruneStrategy'],
  ...['createQuantizeStrategy', 'deletePruneStrategy', 'deleteQuantizeStrategy', 'downloadPrunedModel'],
  ...['downloadQuantizedModel', 'listPruneMethods', 'listQuantizeMethods', 'readPruneStrategy'],
  ...['readQuantizeStrategy', 'createProject', 'deleteConfig', 'deleteMember', 'deleteVariable'],
  ...['deleteVariables', 'downloadDataset', 'downloadExport', 'downloadSource', 'estimateTraining'],
  ...['listCriteria', 'putConfig', 'putDataset', 'putEnvironment', 'putMember', 'putSource', 'putVariable'],
  ...['putVariables', 'readConfig', 'readEnvironment', 'readExperimentConfig', 'readExport', 'readImport'],
  ...['readProject', 'readSource', 'readVariable', 'requestDatasetUpload', 'requestSourceUpload'],
  ...[
    'putServing',
    'readServing',
    'deleteServing',
    'putServingVersion',
    'deleteServingVersion',
    'readServer',
  ],
  ...['estimateSweep', 'readSweep', 'pauseSweep', 'deleteHook', 'putHook', 'readHook'],
  ...['deleteExperiments', 'restoreExperiments', 'markProjectDeleted', 'restoreProject'],
  ...['rerunExperiment', 'trainProjectRemote', 'trainProject', 'transferProject', 'updateProject'],
  ...['readCommand', 'readDocs', 'readHealth', 'readOpenapi', 'readProjectFileSchema', 'readStart'],
  ...['changePassword', 'changeUserType', 'checkUsername', 'createUser', 'deleteProfilePicture'],
  ...['putProfilePicture', 'readOwnAccount', 'readProfilePicture', 'readThumbnail', 'readUser'],
  ...['putExperimentBudget', 'putProjectBudget', 'putUserBudget', 'readExperimentBudget'],
  ...['readProjectBudget', 'readUserBudget'],
];

const functions = join(import.meta.dirname, '../../../functions');

describe('the work of a request', () => {
  let endpoints: AnyEndpoint[];
  beforeAll(async () => {
    endpoints = (await loadEndpoints(functions)).map(({ endpoint }) => endpoint);
  });

  test('is listed with its bound for every endpoint where it grows, and no other exists', () => {
    const names = endpoints.map(({ name }) => name).sort();
    expect([...constant, ...Object.keys(growing)].sort()).toEqual(names);
  });

  test('is bounded by the process where it is heavy', () => {
    const heavy = endpoints.filter(({ isHeavy }) => isHeavy !== undefined).map(({ name }) => name);
    const listed = Object.keys(growing).filter((name) => growing[name]?.startsWith('heavy'));
    expect(heavy.sort()).toEqual(listed.sort());
  });

  describe('of which a run and a project grow', () => {
    let service: TestService;
    let viewer: TestUser;
    const sizes = { small: 1, large: 40 };
    const paths: Record<string, { project_id: string; experiment_id: string }> = {};

    beforeAll(async () => {
      service = await testService();
      const [developer, asker] = [await service.user('developer'), await service.user('viewer')];
      viewer = asker;
      const { records } = service;
      for (const [name, size] of Object.entries(sizes)) {
        const project_id = await newProject(service, developer);
        const made = experimentOf(project_id, 0.5);
        const { experiment_id } = made;
        await records.write(putExperiment(made), takeLease(experiment_id, 0, lease, undefined));
        const line = { time, stream: 'stdout' as const, message: 'x' };
        for (let sequence = 0; sequence < size; sequence += 1) {
          const point = { name: 'loss', value: 1, step: sequence, time: Date.parse(time) };
          await appendMetrics(records, experiment_id, lease, sequence, [point], new Date());
          await appendLog(records, experiment_id, 0, lease, sequence, [line], new Date());
          if (sequence > 0) await records.write(putExperiment(experimentOf(project_id, 0.5)));
        }
        paths[name] = { project_id, experiment_id };
      }
    });

    test('stays the same where it is not listed', async () => {
      const asked = endpoints.filter(
        ({ name, method, path }) =>
          method === 'GET' &&
          constant.includes(name) &&
          /^\/projects\/\{project_id\}[^{]*(?:\{experiment_id\}[^{]*)?$/.test(path),
      );
      expect(asked.map(({ name }) => name)).toContain('readExperiment');
      for (const endpoint of asked) {
        const counts: number[] = [];
        for (const path of [paths['small'], paths['large']]) {
          const own = Object.fromEntries(
            Object.entries(path ?? {}).filter(([name]) => endpoint.path.includes(name)),
          );
          const ask = () => service.call(endpoint, { path: own, as: viewer });
          // Who asks is known from the second time on.
          await ask();
          counts.push((await tableRequests(service, endpoint, ask)).flat().length);
        }
        expect(counts, endpoint.name).toEqual([counts[0], counts[0]]);
      }
    });
  });
});

describe('a request that nobody waits for', () => {
  const close = async (url: string, path: string) => {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    socket.write(`GET ${path} HTTP/1.1\r\nHost: ${hostname}:${port}\r\n\r\n`);
    return () => socket.destroy();
  };

  test('tells its function, when its client has gone and when its time is over', async () => {
    const begun = [Promise.withResolvers<AbortSignal>(), Promise.withResolvers<AbortSignal>()];
    const waiting = [...begun];
    const probe = {
      ...served('GET', '/slow', () => ({ statusCode: 200, body: '' })),
      handler: async (_: unknown, context: { signal?: AbortSignal }) => {
        if (context.signal !== undefined) waiting.shift()?.resolve(context.signal);
        return new Promise<never>(() => {});
      },
    };
    const gateway = await startGateway({ endpoints: [probe], port: 0, timeLimit: 500 });
    try {
      const leave = await close(gateway.url, '/slow');
      const first = await begun[0]?.promise;
      expect(first?.aborted).toBe(false);
      leave();
      if (first?.aborted === false) await once(first, 'abort');
      expect(first?.aborted).toBe(true);

      const answer = fetch(`${gateway.url}/slow`);
      const second = await begun[1]?.promise;
      expect((await answer).status).toBe(503);
      expect(second?.aborted).toBe(true);
    } finally {
      await gateway.close();
    }
  });

  test('is not begun where it waited for its turn and only reads', async () => {
    const paths: string[] = [];
    const end = Promise.withResolvers<void>();
    const probe = served('GET', '/{name}', async ({ path }) => {
      paths.push(path);
      await end.promise;
      return { statusCode: 200, body: '' };
    });
    const limits = { inFlight: 1, waiting: 5 };
    const gateway = await startGateway({ endpoints: [probe], port: 0, limits });
    try {
      const first = fetch(`${gateway.url}/first`);
      while (paths.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
      const leave = await close(gateway.url, '/left');
      const last = fetch(`${gateway.url}/last`);
      await new Promise((resolve) => setTimeout(resolve, 50));
      leave();
      await new Promise((resolve) => setTimeout(resolve, 50));
      end.resolve();
      await Promise.all([first, last]);
      expect(paths).toEqual(['/first', '/last']);
    } finally {
      await gateway.close();
    }
  });
});
