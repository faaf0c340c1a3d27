import { beforeAll, describe, expect, test } from 'vitest';
import { answerSearch } from '../../../functions/experiments/search/answer-search.ts';
import { newId } from '../../../shared/core/new-id.ts';
import { readSettings } from '../../../shared/core/settings.ts';
import { catalogueLists } from '../../../shared/data/experiments/catalogue.ts';
import { cataloguePartition } from '../../../shared/data/experiments/catalogue-mark.ts';
import { type Experiment, putExperiment } from '../../../shared/data/experiments/experiment.ts';
import { rowOf } from '../../../shared/data/experiments/experiment-row.ts';
import { packSegments } from '../../../shared/data/experiments/fold-catalogue.ts';
import { readProjects, searchExperiments } from '../../../shared/data/experiments/search-experiments.ts';
import { nothingTracked } from '../../../shared/data/experiments/tracking.ts';
import { rankOf } from '../../../shared/data/jobs/job-status.ts';
import { count } from '../../../shared/data/projects/project.ts';
import type { TableWriter } from '../../../shared/data/table/table.ts';
import { changeFields } from '../../../shared/experiments/change-fields.ts';
import { experimentVocabulary } from '../../../shared/experiments/experiment-vocabulary.ts';
import { parseFilter } from '../../../shared/search/parse-filter.ts';
import { parseOrder } from '../../../shared/search/row-order.ts';
import { experimentOf } from '../../support/experiment.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { type TestService, testService } from '../../support/service.ts';
import { newProject } from '../projects/new-project.ts';

const ended = "('SUCCEEDED', 'FAILED', 'CANCELLED')";
/** What the console's Home asks for. */
const ofHome = [
  { filter: `status NOT IN ${ended}`, order_by: 'created_at DESC', limit: 50 },
  { filter: "status = 'FAILED'", order_by: 'stopped_at DESC', limit: 8 },
  { filter: `status IN ${ended}`, order_by: 'stopped_at DESC', limit: 8 },
];

/** Record runs whose rows are all in segments of `size`. The newest one waits. Others end in the order in which they began, or in none. */
async function recorded(
  service: TestService,
  project_id: string,
  { number, size, isInOrder }: { number: number; size: number; isInOrder: boolean },
) {
  const random = seededRandom(number);
  const runs = Array.from({ length: number }, (_, index): Experiment => {
    const time = Date.UTC(2026, 0, 1) + index * 60_000;
    const timeText = () => new Date(isInOrder ? time : time + 1e9 * random()).toISOString();
    const isWaiting = index === number - 1 || (!isInOrder && index % 100 === 9);
    const status = isWaiting ? 'CREATED' : index % 10 === 3 ? 'FAILED' : 'SUCCEEDED';
    return {
      ...experimentOf(project_id, 0.5),
      ...{ experiment_id: newId(time), status, status_rank: rankOf(status) },
      ...{ created_at: timeText(), stopped_at: isWaiting ? null : timeText() },
    };
  });
  for (let from = 0; from < number; from += 90)
    await service.records.write(...runs.slice(from, from + 90).map(putExperiment));
  const rows = runs
    .map((run) => rowOf(run, nothingTracked))
    .sort((one, other) => (one.experiment_id < other.experiment_id ? -1 : 1));
  const pk = cataloguePartition(project_id);
  const segments = Array.from(
    { length: Math.ceil(number / size) },
    (_, index) => packSegments(rows.slice(index * size, (index + 1) * size)).segments,
  ).flat();
  const state = { complete: true, marked_until: null, surplus: 0 };
  const none = await catalogueLists.readManifest(service.records, pk);
  await service.records.write(
    count(project_id, { experiments: number }),
    catalogueLists.putManifest(pk, none, { blocks: segments.map(({ ref }) => ref), state }),
    ...segments.map(({ ref, packed }) => catalogueLists.putBlock(pk, ref.id, packed)),
  );
  return runs;
}

describe('what runs, what has failed and what has ended last', () => {
  let service: TestService;

  beforeAll(async () => {
    service = await testService();
  });

  test('takes as many reads with 1,000 runs as with 10', async () => {
    const as = await service.user('developer');
    const readsWith = async (number: number) => {
      const project_id = await newProject(service, as);
      const [oldest] = await recorded(service, project_id, { number, size: 500, isInOrder: true });
      // A mark on a row of a segment that is not read.
      await changeFields(
        { records: service.records, now: () => new Date() },
        { project_id, experiment_id: oldest?.experiment_id ?? '' },
        (fields) => ({ fields: { ...fields, tags: { seen: 'yes' } } }),
      );
      const reads: Record<string, number>[] = [];
      for (const query of ofHome) {
        const counts = { get: 0, query: 0, batchGet: 0, segments: 0 };
        const counted: TableWriter<'records'> = {
          ...service.records,
          get: (...of) => {
            counts.get += 1;
            return service.records.get(...of);
          },
          query: (...of) => {
            counts.query += 1;
            return service.records.query(...of);
          },
          batchGet: (keys) => {
            counts.batchGet += 1;
            counts.segments += keys.filter(({ sk }) => sk.startsWith('BLOCK#')).length;
            return service.records.batchGet(keys);
          },
        };
        const context = { ...service, records: counted, catalogue: counted, now: () => new Date() };
        const settings = readSettings(service.environment);
        const { body } = await answerSearch({ ...context, settings }, [project_id], query);
        expect(body.kind).toBe('json');
        reads.push(counts);
      }
      return reads;
    };

    const few = await readsWith(10);

    expect(await readsWith(1_000)).toEqual(few);
    expect(few.map(({ segments }) => segments)).toEqual([1, 0, 0]);
  });

  test('takes few reads where no run matches and all segments are read', async () => {
    const project_id = await newProject(service, await service.user('developer'));
    await recorded(service, project_id, { number: 300, size: 25, isInOrder: true });
    const reads: number[] = [];
    const counted: TableWriter<'records'> = {
      ...service.records,
      batchGet: (keys) => {
        reads.push(keys.filter(({ sk }) => sk.startsWith('BLOCK#')).length);
        return service.records.batchGet(keys);
      },
    };
    const vocabulary = experimentVocabulary({
      now: new Date(),
      usernameOf: () => undefined,
      bestOf: () => undefined,
      isFree: true,
    });

    const { rows } = await searchExperiments(counted, [project_id], {
      filter: parseFilter("status = 'SUCCEEDED' AND name = 'none'", vocabulary),
      order_by: parseOrder('stopped_at DESC', vocabulary),
      limit: 8,
    });

    expect(rows).toEqual([]);
    expect(reads.filter((segments) => segments > 0)).toEqual([1, 2, 4, 5]);
  });

  test('is what a search of all segments finds, also of runs that have changed since', async () => {
    const as = await service.user('developer');
    const project_id = await newProject(service, as);
    const runs = await recorded(service, project_id, { number: 300, size: 25, isInOrder: false });
    const vocabulary = experimentVocabulary({
      now: new Date(),
      usernameOf: () => 'ada',
      bestOf: () => 1,
      isFree: true,
    });
    const others = [
      { filter: 'status = failed OR stopped_at > 2026-01-09', order_by: 'stopped_at DESC', limit: 7 },
      { filter: 'status = failed OR accuracy > 0.1', order_by: 'stopped_at DESC', limit: 7 },
      { filter: 'failed', order_by: 'stopped_at DESC', limit: 40 },
      { filter: 'NOT status = succeeded', order_by: 'stopped_at', limit: 20 },
      { filter: 'NOT status = succeeded', order_by: 'created_at DESC, name', limit: 20 },
      { filter: 'status != failed AND kind = train', order_by: 'stopped_at DESC', limit: 299 },
      { filter: '', order_by: 'created_at DESC', limit: 1 },
      { filter: 'status = RUNNING', order_by: '', limit: 5 },
      { filter: 'user = ada', order_by: 'stopped_at DESC', limit: 3 },
      { filter: 'best > 0', order_by: 'stopped_at DESC', limit: 3 },
    ];
    const compare = async () => {
      let read = 0;
      for (const { filter, order_by, limit } of [...ofHome, ...others]) {
        const find = async (more: object) => {
          const wanted = {
            filter: parseFilter(filter, vocabulary),
            order_by: parseOrder(order_by, vocabulary),
            limit,
          };
          const { rows, next } = await searchExperiments(service.records, [project_id], {
            ...wanted,
            ...more,
          });
          return { ids: rows.map(({ experiment_id }) => experiment_id), next };
        };
        const all = { read: () => readProjects(service.records, [project_id]) };
        const found = await find({});
        expect(found, filter).toEqual(await find(all));
        read += found.ids.length;
      }
      return read;
    };

    expect(await compare()).toBeGreaterThan(100);
    for (const [index, status] of (['FAILED', 'RUNNING', 'SUCCEEDED'] as const).entries())
      await changeFields(
        { records: service.records, now: () => new Date() },
        { project_id, experiment_id: runs[index * 70 + 1]?.experiment_id ?? '' },
        (fields) => ({
          fields,
          set: {
            status,
            status_rank: rankOf(status),
            stopped_at: status === 'RUNNING' ? null : new Date().toISOString(),
          },
        }),
      );
    await compare();
  });
});
