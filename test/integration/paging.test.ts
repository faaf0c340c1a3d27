import { ulid } from 'ulid';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { endpoint as createProject } from '../../functions/projects/projects/create-project.endpoint.ts';
import { endpoint as deleteProject } from '../../functions/projects/projects/delete-project.endpoint.ts';
import { endpoint as listProjects } from '../../functions/projects/projects/list-projects.endpoint.ts';
import { spreadId, spreadLists } from '../../shared/data/lists/spread-list.ts';
import { createProject as storeProject } from '../../shared/data/projects/project.ts';
import type { TableWriter, Write } from '../../shared/data/table/table.ts';
import { encodeCursor } from '../../shared/http/definition/cursor.ts';
import { sampled } from '../support/samples.ts';
import { type TestService, type TestUser, testService } from '../support/service.ts';
import { pagedLists } from './paged-list.ts';
import { newProject } from './projects/new-project.ts';

const total = 2500;
/** Writes that fit one transaction, by its count of items (100) and by its bytes (4 MB). */
const batch = 90;
/** With it 2,500 projects are more than the 4 MB of one answer. */
const description = 'd'.repeat(1700);

const at = '2026-01-02T03:04:05.000Z';

describe('paging through all projects', () => {
  let service: TestService;
  let owner: TestUser;
  const stored: string[] = [];
  let list: ReturnType<typeof pagedLists>['list'];
  let walk: ReturnType<typeof pagedLists>['walk'];
  /** Changes so far, the last of which is made while a page is read. */
  let changes = 0;
  let changing: Promise<void> = Promise.resolve();
  let passing: string | undefined;

  async function writeAll(writes: readonly Write[]): Promise<void> {
    for (let from = 0; from < writes.length; from += batch) {
      await service.records.write(...writes.slice(from, from + batch));
    }
  }

  beforeAll(async () => {
    service = await testService();
    await spreadLists(service.records);
    owner = await service.user('developer');
    const writes: Write[] = [];
    // The entity's own operation says what a project is; it is only stored with others.
    const collector = { ...service.records, write: async (...given: Write[]) => void writes.push(...given) };
    for (let index = 0; index < total; index += 1) {
      const plain = ulid(Date.parse(at) + index * 7).toLowerCase();
      // Releases before this one kept all projects in one partition.
      const id = index % 3 === 0 ? plain : spreadId(plain);
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
    ({ list, walk } = pagedLists(service, owner));
  });

  afterEach(() => changing);

  /** One project more, newer than, older than or between the stored ones; the one before it goes. */
  async function change(): Promise<void> {
    const created = Date.parse(at) + ((changes * 3571) % (total * 7 + 2000)) - 1000;
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
    if (passing !== undefined) {
      const { status } = await service.call(deleteProject, { path: { project_id: passing }, as: owner });
      if (status !== 200) throw new Error(`deleting answered ${status}`);
    }
    passing = id;
    changes += 1;
  }

  const known = () => new Set(stored);

  test.each(
    sampled(
      [
        ['1000', () => 1000],
        ['100', () => 100],
        ['211', () => 211],
        ['any from 1 to 1000, another on each page', (page: number) => ((page * page * 7919) % 1000) + 1],
        ['1 on every second page', (page: number) => (page % 2 === 0 ? 1 : 250)],
        ['none', () => undefined],
      ],
      3,
    ),
  )('through 2,500 projects drops and repeats none while others come and go; limit %s', async (_, limit) => {
    const before = changes;
    const { ids, sizes } = await walk(listProjects, 'project_id', async (page) => {
      await changing;
      changing = change();
      return limit(page);
    });
    await changing;
    expect(changes - before).toBe(sizes.length);
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
    const cursor = encodeCursor({ name: 'listProjects', path: {}, query: {} }, id);
    const { json } = await list(listProjects, `limit=1000&cursor=${cursor}`);
    const present = known();
    expect(
      json.map((row: { project_id: string }) => row.project_id).find((one: string) => present.has(one)),
    ).toBe(stored[0]);
  });
});
