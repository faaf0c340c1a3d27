import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { startGateway } from '../../../infra/local/gateway/gateway-server.ts';
import { loadEndpoints } from '../../../infra/service/endpoints.ts';
import { putExperiment } from '../../../shared/data/experiments/experiment.ts';
import { appendLog } from '../../../shared/data/jobs/job-log.ts';
import { takeLease } from '../../../shared/data/jobs/lease.ts';
import { appendMetrics } from '../../../shared/data/metrics/job-metrics.ts';
import type { AnyEndpoint } from '../../../shared/http/definition/middleware.ts';
import { experimentOf } from '../../support/experiment.ts';
import { holdRecency } from '../../support/hold-recency.ts';
import { type TestService, type TestUser, testService } from '../../support/service.ts';
import { tableRequests } from '../../support/table-requests.ts';
import { lease, time } from '../experiments/held-lease.ts';
import { newProject } from '../projects/new-project.ts';
import { served } from './served.ts';

const functions = join(import.meta.dirname, '../../../functions');

describe('the work of a request', () => {
  let endpoints: AnyEndpoint[];
  beforeAll(async () => {
    endpoints = (await loadEndpoints(functions)).map(({ endpoint }) => endpoint);
  });

  test('is bounded by the process where it is heavy', () => {
    const heavy = endpoints.filter(({ isHeavy }) => isHeavy !== undefined).map(({ name }) => name);
    const stated = endpoints.filter(({ work }) => work?.startsWith('heavy')).map(({ name }) => name);
    expect(heavy.sort()).toEqual(stated.sort());
  });

  test('is a page where the answer is a list', () => {
    const lists = endpoints.filter(({ input }) => Object.hasOwn(input.query?.shape ?? {}, 'cursor'));
    expect(lists.length).toBeGreaterThan(15);
    expect(lists.filter(({ work }) => work === undefined).map(({ name }) => name)).toEqual([]);
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

    test('stays the same where no bound is stated', async () => {
      holdRecency();
      const asked = endpoints.filter(
        ({ method, path, work }) =>
          method === 'GET' &&
          work === undefined &&
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
    const arrived: IncomingMessage[] = [];
    const note = (message: unknown) => void arrived.push((message as { request: IncomingMessage }).request);
    subscribe('http.server.request.start', note);
    const gateway = await startGateway({ endpoints: [probe], port: 0, limits });
    try {
      const first = fetch(`${gateway.url}/first`);
      await expect.poll(() => paths).toEqual(['/first']);
      const leave = await close(gateway.url, '/left');
      const last = fetch(`${gateway.url}/last`);
      await expect.poll(() => arrived.map(({ url }) => url).sort()).toEqual(['/first', '/last', '/left']);
      const gone = arrived.filter(({ url }) => url === '/left').map(({ socket }) => once(socket, 'close'));
      leave();
      await Promise.all(gone);
      end.resolve();
      await Promise.all([first, last]);
      expect(paths).toEqual(['/first', '/last']);
    } finally {
      unsubscribe('http.server.request.start', note);
      await gateway.close();
    }
  });
});
