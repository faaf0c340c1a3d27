import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { endpoint as putConfig } from '../../functions/projects/put-config.endpoint.ts';
import { endpoint as putDataset } from '../../functions/projects/put-dataset.endpoint.ts';
import { endpoint as putEnvironment } from '../../functions/projects/put-environment.endpoint.ts';
import { endpoint as putSource } from '../../functions/projects/put-source.endpoint.ts';
import { endpoint as readConfigGraph } from '../../functions/projects/read-config-graph.endpoint.ts';
import { endpoint as readProject } from '../../functions/projects/read-project.endpoint.ts';
import { endpoint as requestDatasetUpload } from '../../functions/projects/request-dataset-upload.endpoint.ts';
import { endpoint as requestSourceUpload } from '../../functions/projects/request-source-upload.endpoint.ts';
import { loadEndpoints } from '../../infra/endpoints.ts';
import { putExperiment } from '../../shared/data/experiment.ts';
import { count } from '../../shared/data/project.ts';
import type { AnyEndpoint } from '../../shared/endpoint/exchange.ts';
import { experimentOf } from '../support/experiment.ts';
import { type Answer, type Call, type TestService, type TestUser, testService } from '../support/service.ts';
import { changes, files, reads, sources, tagged } from './conditional-operations.ts';
import { newProject } from './projects/new-project.ts';
import { send, sha256 } from './projects/upload-file.ts';

type Path = Readonly<Record<string, string>>;

const versions = 20;

describe('conditional requests', () => {
  let service: TestService;
  let owner: TestUser;
  let path: Path;

  beforeAll(async () => {
    service = await testService();
    owner = await service.user('developer');
  });

  beforeEach(async () => {
    const project_id = await newProject(service, owner);
    const experiment = experimentOf(project_id, 0.5);
    path = {
      project_id,
      config_id: 'train.yaml',
      dataset: 'digits',
      experiment_id: experiment.experiment_id,
    };
  });

  const call = (
    endpoint: AnyEndpoint,
    content: Call = {},
    headers: Record<string, string> = {},
  ): Promise<Answer> =>
    service.call(endpoint, { path, as: owner, ...content, headers: { ...content.headers, ...headers } });

  const contentOf = (endpoint: AnyEndpoint, n: number): Call =>
    changes.find((one) => one.endpoint === endpoint)?.content(n) ?? {};

  async function upload(endpoint: AnyEndpoint, blobs: readonly Uint8Array[]): Promise<void> {
    for (const bytes of blobs) {
      const asked = await call(endpoint, { query: { sha256: sha256(bytes), size: String(bytes.length) } });
      expect(await send(asked.json.upload, bytes)).toBe(200);
    }
  }

  /** Makes what the endpoint is about, in its first version, besides the project. */
  async function prepare({ path: route }: AnyEndpoint): Promise<void> {
    if (route.includes('/source')) await upload(requestSourceUpload, sources);
    if (route.includes('/datasets/')) await upload(requestDatasetUpload, files);
  }

  async function begin(endpoint: AnyEndpoint): Promise<string> {
    await prepare(endpoint);
    const { path: route } = endpoint;
    if (route.includes('{experiment_id}')) {
      const experiment = {
        ...experimentOf(path['project_id']!, 0.5),
        experiment_id: path['experiment_id']!,
        stopped_at: '2026-01-02T03:05:05.000Z',
      };
      const counted = count(experiment.project_id, { experiments: 1 });
      await service.records.write(putExperiment(experiment), counted);
    }
    const makers = [putConfig, putEnvironment, putSource, putDataset];
    const maker = makers.find((one) => route.startsWith(one.path));
    const made = maker && (await call(maker, contentOf(maker, 0)));
    if (made !== undefined) expect(made.status).toBe(200);
    const tag = (await call(readProject)).headers['etag'];
    return made?.headers['etag'] ?? (route.includes('{experiment_id}') ? '"1-x"' : tag!);
  }

  test('this table knows every operation of projects with an ETag or a precondition', async () => {
    const loaded = await loadEndpoints(join(import.meta.dirname, '../../functions'));
    const here = loaded.map(({ endpoint }) => endpoint).filter((one) => one.path.startsWith('/projects/'));
    const names = (all: readonly AnyEndpoint[]) => [...new Set(all.map(({ name }) => name))].sort();
    const guarded = here.filter(({ problems = [] }) => problems.includes('precondition-failed'));
    const changing = here.filter(({ method }) => ['PUT', 'PATCH', 'DELETE'].includes(method));
    expect(names(guarded)).toEqual(names(changing));
    expect(names(changes.map(({ endpoint }) => endpoint))).toEqual(names(changing));
    const withTag = here.filter(
      ({ etag, method }) => etag === true && (method === 'GET' || method === 'POST'),
    );
    expect(names([...reads.map(({ endpoint }) => endpoint), ...tagged])).toEqual(names(withTag));
  });

  describe.each(reads.map((row) => [`${row.endpoint.name} ${row.accept ?? ''}`, row] as const))(
    '%s',
    (_, { endpoint, accept }) => {
      const read = (headers: Record<string, string> = {}) =>
        call(endpoint, {}, { ...(accept !== undefined && { Accept: accept }), ...headers });

      test('spares the body while it is what the caller has', async () => {
        await begin(endpoint);
        const first = await read();
        expect(first.status).toBe(200);
        const tag = first.headers['etag']!;
        expect(tag).toMatch(/^"1-[A-Za-z0-9_-]{16}"$/);
        const version = tag.slice(0, tag.indexOf('-'));
        for (const matching of [tag, `W/${tag}`, '*', `"0-other", ${tag}`, `"0-other",W/${tag} , "x"`]) {
          const spared = await read({ 'If-None-Match': matching });
          expect([matching, spared.status, spared.text]).toEqual([matching, 304, '']);
          expect(spared.headers['etag']).toBe(tag);
          expect(spared.headers).not.toHaveProperty('content-type');
          expect(spared.headers['cache-control']).toBe(first.headers['cache-control']);
          expect(spared.headers['vary']).toBe(first.headers['vary']);
        }
        for (const other of [`${version}-another"`, '"2-x"', tag.slice(1, -1), '""', 'x', ',', '"']) {
          expect([other, (await read({ 'If-None-Match': other })).status]).toEqual([other, 200]);
        }
      });
    },
  );

  test.each(
    reads.flatMap(({ endpoint, change }) =>
      change === undefined ? [] : [[endpoint.name, endpoint, change] as const],
    ),
  )('%s has another tag once the record is changed', async (_, endpoint, change) => {
    await begin(endpoint);
    const before = (await call(endpoint)).headers['etag']!;
    expect((await call(change, contentOf(change, 1))).status).toBe(200);
    const after = await call(endpoint, {}, { 'If-None-Match': before });
    expect(after.status).toBe(200);
    expect(after.headers['etag']).toMatch(/^"2-/);
  });

  test('forms of one record have tags of their own', async () => {
    await begin(readConfigGraph);
    const forms = ['application/json', 'image/svg+xml', 'text/vnd.mermaid', 'text/vnd.graphviz'];
    const tags = await Promise.all(
      forms.map(async (Accept) => (await call(readConfigGraph, {}, { Accept })).headers['etag']),
    );
    expect(new Set(tags).size).toBe(forms.length);
  });

  test('a masked answer has a tag of its own', async () => {
    const whole = (await call(readProject)).headers['etag']!;
    const masked = await call(readProject, {}, { 'X-Fields': 'project_name', 'If-None-Match': whole });
    expect(masked.status).toBe(200);
    expect(masked.headers['etag']).not.toBe(whole);
  });

  describe.each(changes.map((row) => [row.endpoint.name, row] as const))('%s', (_, row) => {
    const { endpoint, content, reads: reading } = row;
    const change = (n: number, headers: Record<string, string> = {}) => call(endpoint, content(n), headers);
    const present = async () => (reading === undefined ? '' : (await call(reading)).text);

    test('is refused for another version and done for the present one', async () => {
      const tag = await begin(endpoint);
      const before = await present();
      for (const stale of ['"0-x"', '"2-x"', tag.replace('"1-', '"11-')]) {
        const refused = await change(1, { 'If-Match': stale });
        expect([stale, refused.status]).toEqual([stale, 412]);
        expect(refused.json.type).toContain('precondition-failed');
      }
      expect(await present()).toBe(before);
      const done = await change(1, { 'If-Match': tag });
      expect(done.status).toBe(200);
      if (endpoint.method === 'DELETE') expect((await change(1, { 'If-Match': tag })).status).toBe(404);
      else {
        expect(done.headers['etag']).toMatch(/^"2-/);
        expect((await change(1, { 'If-Match': tag })).status).toBe(412);
      }
    });

    test('compares the version alone, and takes any for *', async () => {
      const tag = await begin(endpoint);
      const form = endpoint.method === 'DELETE' ? '*' : `W/${tag.slice(0, tag.indexOf('-'))}-otherBody"`;
      expect((await change(1, { 'If-Match': form })).status).toBe(200);
      if (endpoint.method !== 'DELETE') expect((await change(2, { 'If-Match': '*' })).status).toBe(200);
    });

    test('names a malformed If-Match', async () => {
      await begin(endpoint);
      const before = await present();
      for (const bad of [
        '',
        'x',
        '1-x',
        '"1"',
        '"-x"',
        '"1-x',
        '"1-x" ; drop',
        '"99999999999999999999-x"',
        '"1-ä"',
      ]) {
        const refused = await change(1, { 'If-Match': bad });
        expect([bad, refused.status]).toEqual([bad, 400]);
        expect(refused.json.errors).toEqual([expect.objectContaining({ in: 'header', name: 'If-Match' })]);
      }
      expect(await present()).toBe(before);
    });

    test(`of ${versions} at the same moment with one tag just one is done`, async () => {
      const tag = await begin(endpoint);
      const rivals = await Promise.all(
        Array.from({ length: versions }, (_none, n) => change(n + 1, { 'If-Match': tag })),
      );
      const statuses = rivals.map(({ status }) => status);
      expect(statuses.filter((status) => status === 200)).toHaveLength(1);
      const others = new Set(statuses.filter((status) => status !== 200));
      // Where the record is gone there is nothing to compare with.
      expect([...others]).toEqual([endpoint.method === 'DELETE' ? 404 : 412]);
      if (endpoint.method === 'DELETE' || reading === undefined) return;
      expect((await call(reading)).headers['etag']).toMatch(/^"2-/);
    });
  });

  test.each(
    changes.flatMap(({ endpoint, content }) =>
      endpoint.method === 'PUT' ? [[endpoint.name, endpoint, content] as const] : [],
    ),
  )(
    '%s: If-Match asks for something to be there, If-None-Match: * for nothing',
    async (_, endpoint, content) => {
      const put = (n: number, headers: Record<string, string>) => call(endpoint, content(n), headers);
      await prepare(endpoint);
      expect((await put(0, { 'If-Match': '*' })).status).toBe(412);
      expect((await put(0, { 'If-Match': '"1-x"' })).status).toBe(412);
      const rivals = await Promise.all(
        Array.from({ length: 5 }, (_none, n) => put(n, { 'If-None-Match': '*' })),
      );
      expect(rivals.map(({ status }) => status).sort()).toEqual([200, 412, 412, 412, 412]);
      expect((await put(1, { 'If-None-Match': '*' })).status).toBe(412);
      // A condition that nobody would check is not taken.
      expect((await put(1, { 'If-None-Match': '"1-x"' })).status).toBe(400);
    },
  );
});
