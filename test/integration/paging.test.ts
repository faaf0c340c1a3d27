import { ulid } from 'ulid';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { endpoint as listExperiments } from '../../functions/experiments/list-experiments.endpoint.ts';
import { endpoint as createProject } from '../../functions/projects/create-project.endpoint.ts';
import { endpoint as deleteProject } from '../../functions/projects/delete-project.endpoint.ts';
import { endpoint as listConfigs } from '../../functions/projects/list-configs.endpoint.ts';
import { endpoint as listDatasets } from '../../functions/projects/list-datasets.endpoint.ts';
import { endpoint as listProjects } from '../../functions/projects/list-projects.endpoint.ts';
import { putConfig } from '../../shared/data/config.ts';
import { putExperiment, removeExperiment } from '../../shared/data/experiment.ts';
import { createProject as storeProject } from '../../shared/data/project.ts';
import type { TableWriter, Write } from '../../shared/data/table.ts';
import { putUpload } from '../../shared/data/upload.ts';
import type { AnyEndpoint } from '../../shared/endpoint/exchange.ts';
import { experimentOf } from '../support/experiment.ts';
import { type TestService, type TestUser, testService } from '../support/service.ts';
import { newProject } from './projects/new-project.ts';

const total = 5000;
/** Writes that fit one transaction, by its count of items (100) and by its bytes (4 MB). */
const batch = 90;
/** With it 5,000 projects are more than the 4 MB of one answer. */
const description = 'd'.repeat(700);

const at = '2026-01-02T03:04:05.000Z';
const newId = (): string => ulid().toLowerCase();
const cursorOf = (text: string | Buffer): string => Buffer.from(text).toString('base64url');

describe('paging', () => {
  let service: TestService;
  let owner: TestUser;
  const stored: string[] = [];
  let project_id: string;
  let stopped = false;
  let churning: Promise<number>[] = [];

  async function writeAll(writes: readonly Write[]): Promise<void> {
    for (let from = 0; from < writes.length; from += batch) {
      await service.records.write(...writes.slice(from, from + batch));
    }
  }

  beforeAll(async () => {
    service = await testService();
    owner = await service.user('developer');
    const writes: Write[] = [];
    // The entity's own operation says what a project is; it is only stored with others.
    const collector = { ...service.records, write: async (...given: Write[]) => void writes.push(...given) };
    for (let index = 0; index < total; index += 1) {
      const id = ulid(Date.parse(at) + index * 7).toLowerCase();
      stored.push(id);
      await storeProject(collector as TableWriter<'records'>, {
        project_id: id,
        project_name: `project ${index}`,
        project_description: description,
        project_type: 'vision',
        project_task: 'classification',
        owner: owner.user.username,
        owner_id: owner.user.user_id,
        created_at: at,
        updated_at: at,
        version: 1,
      });
    }
    await writeAll(writes);
    stored.reverse();
    project_id = await newProject(service, owner);
    churning = [0, 1, 2].map(churn);
  });

  afterAll(async () => {
    stopped = true;
    await Promise.allSettled(churning);
  });

  /** Creates and deletes projects newer than, older than and between the stored ones, until the tests are over. */
  async function churn(worker: number): Promise<number> {
    let changes = 0;
    for (; !stopped; changes += 1) {
      const created = Date.parse(at) + ((changes * 3571 + worker * 977) % (total * 7 + 2000)) - 1000;
      const id = changes % 3 === 0 ? await newProject(service, owner) : ulid(created).toLowerCase();
      if (changes % 3 !== 0) {
        const times = { created_at: at, updated_at: at, version: 1 };
        const names = {
          project_name: 'passing',
          project_description: 'x',
          project_type: 'x',
          project_task: 'x',
        };
        const whose = { owner: owner.user.username, owner_id: owner.user.user_id };
        await storeProject(service.records, { project_id: id, ...names, ...whose, ...times });
      }
      const { status } = await service.call(deleteProject, { path: { project_id: id }, as: owner });
      if (status !== 200) throw new Error(`deleting answered ${status}`);
    }
    return changes;
  }

  const list = async (endpoint: AnyEndpoint, query: string) => {
    const path = endpoint.path.includes('{') ? { project_id } : {};
    const answer = await service.call(endpoint, { path, query, as: owner });
    const next = /^<\?(.*)>; rel="next"$/.exec(answer.headers['link'] ?? '')?.[1];
    return { ...answer, next };
  };

  /** Follows the links to the end; `limit` may change from page to page. */
  async function walk(endpoint: AnyEndpoint, idName: string, limit: (page: number) => number | undefined) {
    const ids: string[] = [];
    const sizes: number[] = [];
    let cursor: string | undefined;
    do {
      const most = limit(sizes.length);
      const query = new URLSearchParams({
        ...(most !== undefined && { limit: String(most) }),
        ...(cursor !== undefined && { cursor }),
      });
      const page = await list(endpoint, query.toString());
      if (page.status !== 200) throw new Error(page.text);
      if (most !== undefined) expect(page.json.length).toBeLessThanOrEqual(most);
      expect(page.bytes.length).toBeLessThanOrEqual(4_000_000);
      ids.push(...page.json.map((row: Record<string, string>) => row[idName]));
      sizes.push(page.json.length);
      cursor = new URLSearchParams(page.next).get('cursor') ?? undefined;
    } while (cursor !== undefined);
    return { ids, sizes };
  }

  const known = () => new Set(stored);

  test.each([
    ['1000', () => 1000],
    ['999', () => 999],
    ['100', () => 100],
    ['37', () => 37],
    ['any from 1 to 1000, another on each page', (page: number) => ((page * page * 7919) % 1000) + 1],
    ['1 on every second page', (page: number) => (page % 2 === 0 ? 1 : 83)],
    ['none', () => undefined],
  ])('through 5,000 projects drops and repeats none while others come and go; limit %s', async (_, limit) => {
    const { ids } = await walk(listProjects, 'project_id', limit);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toEqual([...ids].sort().reverse());
    const present = known();
    expect(ids.filter((id) => present.has(id))).toEqual(stored);
  });

  test('without a limit an answer is filled up to 4 MB, then leads on', async () => {
    const { sizes } = await walk(listProjects, 'project_id', () => undefined);
    expect(sizes.length).toBeGreaterThan(1);
    const first = await list(listProjects, '');
    expect(first.bytes.length).toBeGreaterThan(3_900_000);
    expect(first.next).not.toContain('limit');
    expect((await list(listProjects, 'limit=10')).next).toMatch(/^limit=10&cursor=/);
  });

  test('a page goes on after a project that is gone', async () => {
    const query = {
      'project-name': 'n',
      'project-description': 'd',
      'project-type': 't',
      'project-task': 't',
    };
    const made = await service.call(createProject, { query, as: owner });
    const id: string = made.json.project_id;
    await service.call(deleteProject, { path: { project_id: id }, as: owner });
    const { json } = await list(listProjects, `limit=1000&cursor=${cursorOf(`after:${id}`)}`);
    const present = known();
    expect(
      json.map((row: { project_id: string }) => row.project_id).find((one: string) => present.has(one)),
    ).toBe(stored[0]);
  });

  test('while all this went on, others did come and go', async () => {
    stopped = true;
    const changes = await Promise.all(churning);
    for (const count of changes) expect(count).toBeGreaterThan(10);
  });

  test.each([
    ['is blank', ''],
    ['is no base64url', 'a+b/='],
    ['holds other letters', 'ä'],
    ['holds nothing', cursorOf('')],
    ['is of no list', cursorOf('before:x')],
    ['names no row', cursorOf('after:')],
    ['names a row longer than any key', cursorOf(`after:${'k'.repeat(1001)}`)],
    ['is too long', 'a'.repeat(2001)],
    ['is bytes', cursorOf(Buffer.from([0xff, 0xfe, 0]))],
    ['is bytes after all', cursorOf(Buffer.concat([Buffer.from('after:'), Buffer.from([0xff, 0xc0])]))],
    ['is JSON', cursorOf('{"pk":"USERS","sk":"x"}')],
  ])('a cursor that %s is 400', async (_, cursor) => {
    for (const endpoint of [listProjects, listExperiments, listConfigs]) {
      const answer = await list(endpoint, new URLSearchParams({ cursor }).toString());
      expect(answer.status).toBe(400);
      expect(answer.json.errors).toEqual([expect.objectContaining({ in: 'query', name: 'cursor' })]);
    }
  });

  test.each([
    ['names a row that never was', 'zzz'],
    ['names another partition', 'USER#x\nPASSWORD'],
    ['holds a zero', '\0'],
    ['is as long as a key may be', 'k'.repeat(1000)],
    ['is of no plane', '\u{10FFFF}'],
  ])('a forged cursor that %s leads nowhere else', async (_, key) => {
    for (const [endpoint, idName] of [
      [listProjects, 'project_id'],
      [listConfigs, 'config_id'],
    ] as const) {
      const answer = await list(
        endpoint,
        new URLSearchParams({ limit: '3', cursor: cursorOf(`after:${key}`) }).toString(),
      );
      expect(answer.status).toBe(200);
      for (const row of answer.json) expect(row).toHaveProperty(idName);
    }
  });

  test.each(['0', '-1', '1001', '1e3', '1.5', '', ' 1', '0x10', 'NaN', '99999999999999999999'])(
    'limit=%s is 400',
    async (limit) => {
      const answer = await list(listProjects, new URLSearchParams({ limit }).toString());
      expect(answer.status).toBe(400);
      expect(answer.json.errors).toEqual([
        { in: 'query', name: 'limit', message: 'must be a whole number from 1 to 1000' },
      ]);
    },
  );

  test('limits and cursors are given once', async () => {
    expect((await list(listProjects, 'limit=1&limit=2')).status).toBe(400);
    expect((await list(listProjects, 'cursor=YQ&cursor=YQ')).status).toBe(400);
  });

  describe('of a project', () => {
    const experiments: string[] = [];
    const configs: string[] = [];

    beforeAll(async () => {
      const writes: Write[] = [];
      for (let index = 0; index < 200; index += 1) {
        const experiment = {
          ...experimentOf(project_id, 0.5),
          experiment_id: ulid(Date.parse(at) + index).toLowerCase(),
        };
        experiments.unshift(experiment.experiment_id);
        writes.push(putExperiment(experiment));
      }
      await writeAll(writes);
      for (let index = 0; index < 60; index += 1) {
        const config_id = `${'aB.-_9'.charAt((index * 5) % 2)}${index * 37}.yaml`;
        configs.push(config_id);
        const times = { created_at: at, updated_at: at, version: 1, generation: newId() };
        const config = {
          project_id,
          config_id,
          format: 'yaml' as const,
          size: 2,
          sha256: 'a'.repeat(64),
          ...times,
        };
        await putConfig(service.records, config, Buffer.from('{}'), undefined);
      }
      configs.sort();
    });

    test.each([1, 2, 7, 199, 200, 201, 1000])('experiments, newest first, %i a page', async (limit) => {
      const removed = {
        ...experimentOf(project_id, 0.5),
        experiment_id: ulid(Date.parse(at) + 100).toLowerCase(),
      };
      await service.records.write(putExperiment(removed));
      let isRemoved = false;
      const { ids, sizes } = await walk(listExperiments, 'experiment_id', (page) => {
        if (page > 0 && !isRemoved) {
          isRemoved = true;
          void service.records.write(removeExperiment(removed));
        }
        return limit;
      });
      if (!isRemoved) await service.records.write(removeExperiment(removed));
      expect(ids.filter((id) => id !== removed.experiment_id)).toEqual(experiments);
      expect(sizes.at(-1)).toBeGreaterThan(0);
    });

    test.each([1, 7, 59, 60, 61])(
      'configurations, by name, %i a page; the last page leads nowhere',
      async (limit) => {
        const { ids, sizes } = await walk(listConfigs, 'config_id', () => limit);
        expect(ids).toEqual(configs);
        expect(sizes).toHaveLength(Math.ceil(configs.length / limit));
      },
    );

    test('data sets, by name; and an empty list has no next page', async () => {
      const none = await list(listDatasets, 'limit=1');
      expect([none.json, none.next]).toEqual([[], undefined]);
      for (const name of ['a', 'b', 'C']) {
        const upload = {
          project_id,
          name,
          sha256: 'b'.repeat(64),
          size: 1,
          format: 'file' as const,
          updated_at: at,
          version: 1,
        };
        await putUpload(service.records, 'dataset', upload, undefined);
      }
      const { ids, sizes } = await walk(listDatasets, 'dataset', () => 1);
      expect(ids).toEqual(['C', 'a', 'b']);
      expect(sizes).toEqual([1, 1, 1]);
    });
  });
});
