import { beforeAll, describe, expect, test } from 'vitest';
import { endpoint as deleteExperiment } from '../../../functions/experiments/records/delete-experiment.endpoint.ts';
import { endpoint as readExperiment } from '../../../functions/experiments/records/read-experiment.endpoint.ts';
import { endpoint as updateExperiment } from '../../../functions/experiments/records/update-experiment.endpoint.ts';
import { endpoint as listExperiments } from '../../../functions/experiments/search/list-experiments.endpoint.ts';
import { putExperiment } from '../../../shared/data/experiments/experiment.ts';
import { trackingPartition } from '../../../shared/data/metrics/metric-summaries.ts';
import { count } from '../../../shared/data/projects/project.ts';
import { experimentOf } from '../../support/experiment.ts';
import { type TestService, type TestUser, testService } from '../../support/service.ts';
import { newProject } from '../projects/new-project.ts';
import { json } from '../users/body.ts';

describe('the fields of an experiment', () => {
  let service: TestService;
  let as: TestUser;
  let project_id: string;

  beforeAll(async () => {
    service = await testService();
    as = await service.user('developer');
    project_id = await newProject(service, as);
  });

  /** An experiment that has ended, as an earlier release left it. */
  async function recorded(): Promise<{ project_id: string; experiment_id: string }> {
    const experiment = { ...experimentOf(project_id, 0.5), stopped_at: '2026-01-02T03:05:05.000Z' };
    await service.records.write(putExperiment(experiment), count(project_id, { experiments: 1 }));
    return { project_id, experiment_id: experiment.experiment_id };
  }
  type Path = Awaited<ReturnType<typeof recorded>>;
  const update = (path: Path, body: object) => service.call(updateExperiment, { path, as, ...json(body) });
  const read = async (path: Path) => (await service.call(readExperiment, { path, as })).json;

  test('are empty where an earlier release made it', async () => {
    const path = await recorded();
    const none = { name: 'train', note: null, tags: {}, params: {}, git: null };
    expect(await read(path)).toMatchObject(none);
    const list = await service.call(listExperiments, { path, as });
    expect(list.json[0]).toMatchObject({ ...path, ...none });
  });

  test('can be changed one by one, also after its end', async () => {
    const path = await recorded();
    const named = await update(path, { name: 'baseline', tags: { stage: 'first', owner: 'ada' } });
    expect(named.status, named.text).toBe(200);
    expect(named.json).toMatchObject({ name: 'baseline', note: null, status: 'SUCCEEDED' });
    await update(path, { note: '# Why\n\nBecause.', tags: { stage: null, 'a/b "c"': '' } });
    const changed = { name: 'baseline', note: '# Why\n\nBecause.', tags: { owner: 'ada', 'a/b "c"': '' } };
    const now = await read(path);
    expect(now).toMatchObject(changed);
    expect(now.tags).toEqual(changed.tags);
    const list = await service.call(listExperiments, { path, query: { limit: '1' }, as });
    expect(list.json).toEqual([{ ...now, system: null }]);
    await update(path, { note: null });
    expect((await read(path)).note).toBeNull();
  });

  test('of many experiments lie with the right ones in a list', async () => {
    const other = await newProject(service, as);
    const paths = [];
    for (let index = 0; index < 5; index += 1) {
      const experiment = { ...experimentOf(other, 0.5), experiment_id: `01m7zd37c8ghvxmh6vt3kqyn${index}0` };
      await service.records.write(putExperiment(experiment));
      paths.push({ project_id: other, experiment_id: experiment.experiment_id });
    }
    for (const index of [0, 2, 4]) await update(paths[index]!, { name: `number ${index}` });
    const names: string[] = [];
    for (let query: string | undefined = 'limit=2'; query !== undefined; ) {
      const page = await service.call(listExperiments, { path: { project_id: other }, query, as });
      names.push(...page.json.map((one: { name: string }) => one.name));
      query = /^<\?(.*)>; rel="next"$/.exec(page.headers['link'] ?? '')?.[1];
    }
    expect(names).toEqual(['number 4', 'train', 'number 2', 'train', 'number 0']);
  });

  test.each([
    ['nothing', {}, 'body', /at least one of name, note, tags/],
    ['a blank name', { name: ' ' }, 'name', /blank/],
    ['a note that is too long', { note: 'x'.repeat(10_001) }, 'note', /10000 characters/],
    ['a tag that is no text', { tags: { a: 1 } }, 'tags.a', /string/],
    ['a tag with a blank name', { tags: { ' ': 'a' } }, /^tags/, /blank/],
    ['a param', { params: { a: '1' } }, 'params', /allowed are name, note, tags/],
    [
      'more than an item takes',
      { tags: Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`t${n}`, 'x'.repeat(8000)])) },
      'tags',
      /at most 300000 are allowed/,
    ],
  ])('refuse %s', async (_, body, name, message) => {
    const path = await recorded();
    const { status, json: problem } = await update(path, body);
    expect(status).toBe(400);
    expect(problem.errors).toEqual([
      { in: 'body', name: expect.stringMatching(name), message: expect.stringMatching(message) },
    ]);
    expect(
      (await service.records.query({ pk: trackingPartition(project_id), prefix: path.experiment_id })).items,
    ).toEqual([]);
  });

  test('of which two are changed at the same moment keep both changes', async () => {
    const path = await recorded();
    const changes = Array.from({ length: 5 }, (_, n) => update(path, { tags: { [`t${n}`]: String(n) } }));
    expect((await Promise.all(changes)).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect((await read(path)).tags).toEqual({ t0: '0', t1: '1', t2: '2', t3: '3', t4: '4' });
  });

  test('go with it', async () => {
    const [path, other] = [await recorded(), await recorded()];
    await update(path, { name: 'gone' });
    await update(other, { name: 'stays' });
    expect((await service.call(deleteExperiment, { path, as })).status).toBe(200);
    const left = await service.records.query({ pk: trackingPartition(project_id) });
    const ids = left.items.map(({ sk }) => sk.split('#')[0]);
    expect(ids).not.toContain(path.experiment_id);
    expect(ids).toContain(other.experiment_id);
  });
});
