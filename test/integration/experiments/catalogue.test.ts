import { beforeAll, describe, expect, test, vi } from 'vitest';
import { endpoint as create } from '../../../functions/experiments/records/create-experiment.endpoint.ts';
import { endpoint as remove } from '../../../functions/experiments/records/delete-experiment.endpoint.ts';
import { endpoint as list } from '../../../functions/experiments/search/list-experiments.endpoint.ts';
import { readCatalogue } from '../../../shared/data/experiments/catalogue.ts';
import { cataloguePartition, markNew } from '../../../shared/data/experiments/catalogue-mark.ts';
import { experimentsPartition, putExperiment } from '../../../shared/data/experiments/experiment.ts';
import type { ExperimentRow } from '../../../shared/data/experiments/experiment-row.ts';
import { foldCatalogue, foldNowAndThen } from '../../../shared/data/experiments/fold-catalogue.ts';
import { logPoints } from '../../../shared/data/experiments/log-points.ts';
import { searchExperiments } from '../../../shared/data/experiments/search-experiments.ts';
import { count } from '../../../shared/data/projects/project.ts';
import type { TableWriter, Write } from '../../../shared/data/table/table.ts';
import { changeFields } from '../../../shared/experiments/change-fields.ts';
import { concludeJob } from '../../../shared/jobs/conclusion.ts';
import { experimentOf } from '../../support/experiment.ts';
import { everySample } from '../../support/samples.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { type TestService, type TestUser, testService } from '../../support/service.ts';
import { newProject } from '../projects/new-project.ts';
import { json } from '../users/body.ts';

type Records = TableWriter<'records'>;
interface Model {
  name: string;
  params: Record<string, string>;
  tags: Record<string, string>;
  loss: number | undefined;
}

const plain = (row: ExperimentRow): Model => ({
  name: row.name,
  params: Object.fromEntries(row.params),
  tags: Object.fromEntries(row.tags),
  loss: row.metric('loss')?.last,
});
const byId = (rows: readonly ExperimentRow[]) =>
  new Map(
    rows
      .toSorted((one, other) => (one.experiment_id < other.experiment_id ? -1 : 1))
      .map((row) => [row.experiment_id, plain(row)]),
  );
const sorted = (model: ReadonlyMap<string, Model>) =>
  new Map([...model].toSorted(([one], [other]) => (one < other ? -1 : 1)));
const fold = (records: Records, project_id: string, least = 1) =>
  foldCatalogue(records, project_id, { milliseconds: 0, least });

describe('the catalogue of a project', () => {
  let service: TestService;
  let as: TestUser;
  let records: Records;

  beforeAll(async () => {
    service = await testService();
    as = await service.user('developer');
    records = service.records;
  });

  const created = async (project_id: string, body: object) => {
    const answer = await service.call(create, { path: { project_id }, as, ...json(body) });
    expect(answer.status, answer.text).toBe(200);
    return answer.json.experiment_id as string;
  };
  const change = (project_id: string, experiment_id: string, tags: Record<string, string>, ended = true) =>
    changeFields({ records, now: () => new Date() }, { project_id, experiment_id }, (fields) => ({
      fields: { ...fields, tags },
      ...(ended && { set: { status: 'SUCCEEDED', status_rank: 6, stopped_at: new Date().toISOString() } }),
    }));
  const rows = async (project_id: string) =>
    (await searchExperiments({ ...records, writable: undefined } as never, [project_id], {})).rows;
  const segmentsOf = async (project_id: string) => (await readCatalogue(records, project_id))!;

  test('is what a plain map is, whatever is written, folded and deleted in which order', async () => {
    const project_id = await newProject(service, as);
    const random = seededRandom(7);
    const model = new Map<string, Model>();
    const pick = () => [...model.keys()][Math.floor(random() * model.size)];
    let folds = 0;
    for (let turn = 0; turn < 90; turn += 1) {
      const what = random();
      const id = pick();
      if (what < 0.35 || id === undefined) {
        const params = random() < 0.5 ? { lr: String(turn), 'a b/"c"': 'x' } : {};
        const name = `run ${turn}`;
        model.set(await created(project_id, { name, params }), { name, params, tags: {}, loss: undefined });
      } else if (what < 0.6) {
        const tags = { turn: String(turn) };
        await change(project_id, id, tags);
        model.set(id, { ...model.get(id)!, tags });
      } else if (what < 0.7) {
        const value = [turn, Number.NaN, -0, 1e308][turn % 4]!;
        await logPoints(records, { project_id, experiment_id: id }, [
          { name: 'loss', value, step: turn, time: Date.now() },
        ]);
        model.set(id, { ...model.get(id)!, loss: value });
      } else if (what < 0.8) {
        await change(project_id, id, model.get(id)!.tags);
        expect((await service.call(remove, { path: { project_id, experiment_id: id }, as })).status).toBe(
          200,
        );
        model.delete(id);
      } else {
        await fold(records, project_id, 1 + Math.floor(random() * 3));
        folds += 1;
      }
      if (turn % 9 === 0) expect(byId(await rows(project_id))).toEqual(sorted(model));
    }
    expect(folds).toBeGreaterThan(5);
    expect(byId(await rows(project_id))).toEqual(sorted(model));
    const { manifest, marks } = await segmentsOf(project_id);
    expect(manifest.blocks.length).toBeGreaterThan(0);
    expect(marks).toBeLessThan(model.size);
  });

  test('takes in what releases without one recorded, and what they record later', async () => {
    const project_id = await newProject(service, as);
    const recorded = async (number: number) => {
      const made = Array.from({ length: number }, () => experimentOf(project_id, 0.5));
      const writes: Write[] = made.map((one) => putExperiment({ ...one, config_id: 'c.yaml' }));
      await records.write(...writes, count(project_id, { experiments: number }));
      return made.map(({ experiment_id }) => experiment_id);
    };
    const old = [...(await recorded(90)), ...(await recorded(30))];
    expect(await readCatalogue(records, project_id)).toBeUndefined();
    const find = async () => {
      const answer = await service.call(list, {
        path: { project_id },
        query: { filter: "name = 'c'", fields: 'experiment_id' },
        as,
      });
      expect(answer.status, answer.text).toBe(200);
      return answer.json.map((one: { experiment_id: string }) => one.experiment_id).sort();
    };
    expect(await find()).toEqual(old.toSorted());
    // Each search folds for a while.
    const marksAfterSearch = async () => {
      expect(await find()).toEqual(old.toSorted());
      return (await segmentsOf(project_id)).marks;
    };
    await expect.poll(marksAfterSearch).toBeLessThan(64);
    old.push(...(await recorded(2)));
    expect(await find()).toEqual(old.toSorted());
    expect((await segmentsOf(project_id)).rows).toHaveLength(122);
    expect(await find()).toEqual(old.toSorted());
  });

  test('of which a step of folding is lost, or done twice at a time, loses nothing', async () => {
    const project_id = await newProject(service, as);
    const ids: string[] = [];
    for (let index = 0; index < 12; index += 1) {
      const id = await created(project_id, { name: `n${index}` });
      await change(project_id, id, {});
      ids.push(id);
    }
    await foldCatalogue(records, project_id, { milliseconds: 0, least: 100 });
    const names = async () => (await rows(project_id)).map(({ name }) => name).sort();
    const expected = ids.map((_, index) => `n${index}`).sort();
    // The process dies before its first, second, third … write.
    for (let most = 0; most < 4; most += 1) {
      let writes = 0;
      const dying: Records = {
        ...records,
        write: (...given) => {
          writes += 1;
          return writes > most ? Promise.reject(new Error('killed')) : records.write(...given);
        },
      };
      await fold(dying, project_id).catch(() => undefined);
      expect(await names()).toEqual(expected);
    }
    await change(project_id, ids[0]!, { seen: 'yes' });
    await Promise.all([
      fold(records, project_id),
      fold(records, project_id),
      change(project_id, ids[1]!, { seen: 'yes' }),
    ]);
    await fold(records, project_id);
    const seen = (await rows(project_id)).filter((row) => row.tag('seen') === 'yes');
    expect(seen.map(({ name }) => name).sort()).toEqual(['n0', 'n1']);
    expect(await names()).toEqual(expected);
  });

  test('is left to whoever replaced a segment while another process was about to read it', async () => {
    const project_id = await newProject(service, as);
    const ended = async (name: string) => change(project_id, await created(project_id, { name }), {});
    await ended('first');
    await foldCatalogue(records, project_id, { milliseconds: 0, least: 100 });
    await fold(records, project_id);
    await ended('second');
    let overtaken = 0;
    const slow: Records = {
      ...records,
      async batchGet(keys) {
        if (keys.some(({ sk }) => sk.startsWith('BLOCK#')) && overtaken === 0) {
          overtaken += 1;
          await ended('third');
          await fold(records, project_id);
        }
        return records.batchGet(keys);
      },
    };
    await fold(slow, project_id);
    expect(overtaken).toBe(1);
    await fold(records, project_id);
    expect((await rows(project_id)).map(({ name }) => name).sort()).toEqual(['first', 'second', 'third']);
    expect((await segmentsOf(project_id)).marks).toBe(0);
  });

  test.runIf(everySample)('folds what has ended behind hundreds that run', async () => {
    const project_id = await newProject(service, as);
    await fold(records, project_id);
    const recorded = async (value: number | null, number: number) => {
      const made = Array.from({ length: number }, () => experimentOf(project_id, value));
      await records.write(
        ...made.flatMap((one) => [putExperiment(one), markNew(project_id, one.experiment_id)]),
        count(project_id, { experiments: number }),
      );
      return made.map(({ experiment_id }) => experiment_id);
    };
    for (let round = 0; round < 8; round += 1) await recorded(null, 45);
    const ended = await recorded(0.5, 10);
    await fold(records, project_id);
    const { marks, manifest } = await segmentsOf(project_id);
    expect(marks).toBe(360);
    expect(manifest.blocks.map(({ rows: number }) => number)).toEqual([10]);
    const found = byId(await rows(project_id));
    expect(found.size).toBe(370);
    expect([...found.keys()]).toEqual(expect.arrayContaining(ended));
    // Whoever records another one does not look at all that run, nor at all marks.
    let experiments = 0;
    let read = 0;
    const counting: Records = {
      ...records,
      async query(query) {
        const page = await records.query(query);
        read += page.items.length;
        return page;
      },
      batchGet(keys) {
        experiments += keys.filter(({ pk }) => pk === experimentsPartition(project_id)).length;
        return records.batchGet(keys);
      },
    };
    await foldNowAndThen(counting, project_id, `${ended[0]!.slice(0, -1)}0`);
    expect(experiments).toBe(16);
    expect(read).toBeLessThanOrEqual(2 * 160);
  });

  test('takes one step after a recorded experiment, which leaves the writes of a partition to who begins trainings', async () => {
    const project_id = await newProject(service, as);
    await fold(records, project_id);
    for (let round = 0; round < 4; round += 1) {
      const ended = Array.from({ length: 45 }, () => experimentOf(project_id, 0.5));
      await records.write(
        ...ended.flatMap((one) => [putExperiment(one), markNew(project_id, one.experiment_id)]),
        count(project_id, { experiments: 45 }),
      );
    }

    // A step of a fast machine takes no time.
    const clock = vi.spyOn(Date, 'now').mockReturnValue(Date.now());
    await foldNowAndThen(records, project_id, '0').finally(() => clock.mockRestore());

    expect((await segmentsOf(project_id)).marks).toBe(100);
  });

  test('folds trainings that wait in line, and marks those that leave it', async () => {
    const project_id = await newProject(service, as);
    await fold(records, project_id);
    const waiting = Array.from({ length: 12 }, (_, index) => ({
      ...experimentOf(project_id, null),
      ...{ status: 'CREATED' as const, status_rank: 0, line_ticket: index },
    }));
    await records.write(
      ...waiting.flatMap((one) => [putExperiment(one), markNew(project_id, one.experiment_id)]),
      count(project_id, { experiments: 12, unfinished: 12 }),
    );

    await fold(records, project_id);
    const folded = await segmentsOf(project_id);
    await concludeJob(records, waiting[0]!, { status: 'CANCELLED', reason: null }, new Date());

    expect(folded.marks).toBe(0);
    expect((await segmentsOf(project_id)).marks).toBe(1);
    const searched = await searchExperiments(records, [project_id], {});
    expect(searched.rows.map(({ status }) => status).sort()).toEqual([
      'CANCELLED',
      ...Array.from({ length: 11 }, () => 'CREATED'),
    ]);
  });

  test('keeps nothing of an experiment that was deleted', async () => {
    const project_id = await newProject(service, as);
    const ids: string[] = [];
    for (const name of ['kept', 'gone']) {
      const id = await created(project_id, { name, params: { text: `param of ${name}` } });
      await change(project_id, id, {});
      ids.push(id);
    }
    await foldCatalogue(records, project_id, { milliseconds: 0, least: 100 });
    await fold(records, project_id);
    const before = (await segmentsOf(project_id)).manifest.blocks;
    expect(before).toMatchObject([{ rows: 2, dead: [] }]);
    const path = { project_id, experiment_id: ids[1]! };
    expect((await service.call(remove, { path, as })).status).toBe(200);
    const after = await segmentsOf(project_id);
    expect(after.rows.map(({ name }) => name)).toEqual(['kept']);
    expect([after.marks, after.manifest.blocks]).toMatchObject([0, [{ rows: 1, dead: [] }]]);
    const { items } = await records.query({ pk: cataloguePartition(project_id) });
    expect(items.map(({ sk }) => sk)).toEqual([`BLOCK#${after.manifest.blocks[0]!.id}`, 'MANIFEST']);
  });

  test('sees a change that comes between two steps of folding', async () => {
    const project_id = await newProject(service, as);
    const id = await created(project_id, { name: 'one' });
    await change(project_id, id, { state: 'old' });
    await foldCatalogue(records, project_id, { milliseconds: 0, least: 100 });
    let writes = 0;
    const interrupted: Records = {
      ...records,
      async write(...given) {
        writes += 1;
        if (writes === 2) await change(project_id, id, { state: 'new' });
        return records.write(...given);
      },
    };
    await fold(interrupted, project_id);
    expect(writes).toBe(2);
    expect((await rows(project_id)).map((row) => row.tag('state'))).toEqual(['new']);
    await fold(records, project_id);
    expect((await segmentsOf(project_id)).marks).toBe(0);
    expect((await rows(project_id)).map((row) => row.tag('state'))).toEqual(['new']);
  });
});
