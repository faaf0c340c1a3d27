import { beforeAll, describe, expect, test } from 'vitest';
import { endpoint as create } from '../../../functions/experiments/records/create-experiment.endpoint.ts';
import { endpoint as deleteExperiments } from '../../../functions/experiments/records/delete-experiments.endpoint.ts';
import { endpoint as restoreExperiments } from '../../../functions/experiments/records/restore-experiments.endpoint.ts';
import { endpoint as update } from '../../../functions/experiments/records/update-experiment.endpoint.ts';
import { endpoint as search } from '../../../functions/experiments/search/search-experiments.endpoint.ts';
import { endpoint as markProjectDeleted } from '../../../functions/projects/projects/mark-project-deleted.endpoint.ts';
import { readProjects, searchExperiments } from '../../../shared/data/experiments/search-experiments.ts';
import type { TableWriter } from '../../../shared/data/table/table.ts';
import { experimentVocabulary } from '../../../shared/experiments/experiment-vocabulary.ts';
import { parseFilter } from '../../../shared/search/parse-filter.ts';
import { parseOrder } from '../../../shared/search/row-order.ts';
import { type TestService, type TestUser, testService } from '../../support/service.ts';
import { newProject } from '../projects/new-project.ts';
import { json } from '../users/body.ts';

const ended = "('SUCCEEDED', 'FAILED', 'CANCELLED')";
/** What the console's Home asks for. */
const ofHome = [
  { filter: `status NOT IN ${ended}`, order_by: 'created_at DESC', limit: 3 },
  { filter: "status = 'FAILED'", order_by: 'stopped_at DESC', limit: 3 },
  { filter: `status IN ${ended}`, order_by: 'stopped_at DESC', limit: 3 },
  { filter: '', order_by: 'created_at DESC', limit: 1 },
];
const vocabulary = experimentVocabulary({
  now: new Date(),
  usernameOf: () => undefined,
  bestOf: () => undefined,
  isFree: true,
});
const parsed = ({ filter, order_by, limit }: (typeof ofHome)[number]) => ({
  filter: parseFilter(filter, vocabulary),
  order_by: parseOrder(order_by, vocabulary),
  limit,
});

let service: TestService;
let as: TestUser;

beforeAll(async () => {
  service = await testService();
  as = await service.user('developer');
});

const record = async (project_id: string): Promise<string> =>
  (await service.call(create, { path: { project_id }, as, ...json({}) })).json.experiment_id;
const setStatus = (project_id: string, experiment_id: string, status: string) =>
  service.call(update, { path: { project_id, experiment_id }, as, ...json({ status }) });

/** Projects with an experiment each, which has failed or succeeded in turns. */
async function endedProjects(number: number): Promise<string[]> {
  const ids: string[] = [];
  for (let index = 0; index < number; index += 1) {
    const project_id = await newProject(service, as);
    await setStatus(project_id, await record(project_id), index % 2 === 0 ? 'FAILED' : 'SUCCEEDED');
    ids.push(project_id);
  }
  return ids;
}

/** Search as Home does. Return the ids that each search found. */
async function searchAsHome(records: TableWriter<'records'>, project_ids: readonly string[]) {
  const found: string[][] = [];
  for (const query of ofHome) {
    const { rows } = await searchExperiments(records, project_ids, parsed(query));
    found.push(rows.map(({ experiment_id }) => experiment_id));
  }
  return found;
}

/** The same by reading all experiments of all projects. */
async function searchAll(project_ids: readonly string[]) {
  const found: string[][] = [];
  for (const query of ofHome) {
    const read = () => readProjects(service.records, project_ids);
    const { rows } = await searchExperiments(service.records, project_ids, { ...parsed(query), read });
    found.push(rows.map(({ experiment_id }) => experiment_id));
  }
  return found;
}

/** A table that notes the partitions of its queries. */
function counted() {
  const queried: string[] = [];
  const records: TableWriter<'records'> = {
    ...service.records,
    query: (query) => {
      queried.push(query.pk);
      return service.records.query(query);
    },
  };
  return { records, queried };
}

describe('what runs, what has failed and what has ended last in many projects', () => {
  test('takes as many queries with 40 projects as with 20', async () => {
    const queriesWith = async (number: number): Promise<number> => {
      const project_ids = await endedProjects(number);
      await record(project_ids[0] ?? '');
      await searchAsHome(service.records, project_ids);
      const { records, queried } = counted();
      await searchAsHome(records, project_ids);
      return queried.length;
    };

    const few = await queriesWith(20);

    expect(await queriesWith(40)).toBe(few);
    // One that runs, four each that have failed, have ended and are the newest.
    expect(few).toBeLessThanOrEqual(1 + 3 * 4);
  });

  test('reads again only the project in which something has begun or ended', async () => {
    const project_ids = await endedProjects(12);
    await searchAsHome(service.records, project_ids);
    await record(project_ids[2] ?? '');
    const { records, queried } = counted();

    await searchExperiments(records, project_ids, parsed(ofHome[0]!));

    expect(queried).toEqual([`CATALOGUE#${project_ids[2]}`]);
  });

  test('is what a search of all experiments finds, after each change', async () => {
    const project_ids = await endedProjects(8);
    const [one = '', two = '', three = ''] = project_ids;
    const path = (project_id: string) => ({ path: { project_id }, as });
    let run = '';
    let other = '';
    const changes: (() => Promise<unknown>)[] = [
      async () => {
        run = await record(one);
      },
      () => setStatus(one, run, 'CREATED'),
      () => setStatus(one, run, 'RUNNING'),
      () => setStatus(one, run, 'FAILED'),
      () => setStatus(one, run, 'SUCCEEDED'),
      async () => {
        other = await record(two);
      },
      () => service.call(deleteExperiments, { ...path(two), ...json({ experiment_ids: [other] }) }),
      () => service.call(restoreExperiments, { ...path(two), ...json({ experiment_ids: [other] }) }),
      () => setStatus(two, other, 'CANCELLED'),
      () => setStatus(two, other, 'RUNNING'),
      () => record(three),
    ];

    await searchAsHome(service.records, project_ids);

    for (const change of changes) {
      await change();
      expect(await searchAsHome(service.records, project_ids)).toEqual(await searchAll(project_ids));
      // Once more with what the first search has noted.
      expect(await searchAsHome(service.records, project_ids)).toEqual(await searchAll(project_ids));
    }
  });

  test('finds what ends between the reads of a search, and what ended before a note that could not be written', async () => {
    const project_ids = await endedProjects(6);
    const run = await record(project_ids[5] ?? '');
    let isBetween = true;
    const interrupted: TableWriter<'records'> = {
      ...service.records,
      async query(query) {
        const page = await service.records.query(query);
        if (isBetween && query.pk === `CATALOGUE#${project_ids[5]}`) {
          isBetween = false;
          await setStatus(project_ids[5] ?? '', run, 'FAILED');
        }
        return page;
      },
    };
    const unwritable: TableWriter<'records'> = {
      ...service.records,
      write: (...writes) =>
        writes.some((write) => 'put' in write && write.put.sk === 'NEWEST')
          ? Promise.reject(new Error('killed'))
          : service.records.write(...writes),
    };

    await searchAsHome(unwritable, project_ids);
    await searchExperiments(interrupted, project_ids, parsed(ofHome[0]!));

    const found = await searchAsHome(service.records, project_ids);
    expect(found).toEqual(await searchAll(project_ids));
    expect(found[1]?.[0]).toBe(run);
  });

  test('leaves out projects that are marked as deleted, unless they are named', async () => {
    const [project_id = ''] = await endedProjects(1);
    await service.call(markProjectDeleted, { path: { project_id }, as });
    const idsOf = async (query: Record<string, string>) =>
      (
        await service.call(search, {
          as,
          query: { filter: `status IN ${ended}`, order_by: 'stopped_at DESC', ...query },
        })
      ).json.map((row: { project_id: string }) => row.project_id);

    const [all, named] = [await idsOf({}), await idsOf({ project_id })];

    expect(all.length).toBeGreaterThan(0);
    expect(all).not.toContain(project_id);
    expect(named).toEqual([project_id]);
  });
});
