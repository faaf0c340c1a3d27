import { beforeAll, describe, expect, test } from 'vitest';
import { endpoint as logMetrics } from '../../../functions/experiments/metrics/log-metrics.endpoint.ts';
import { endpoint as create } from '../../../functions/experiments/records/create-experiment.endpoint.ts';
import { endpoint as remove } from '../../../functions/experiments/records/delete-experiment.endpoint.ts';
import { endpoint as read } from '../../../functions/experiments/records/read-experiment.endpoint.ts';
import { endpoint as update } from '../../../functions/experiments/records/update-experiment.endpoint.ts';
import { endpoint as list } from '../../../functions/experiments/search/list-experiments.endpoint.ts';
import { endpoint as search } from '../../../functions/experiments/search/search-experiments.endpoint.ts';
import { endpoint as deleteUser } from '../../../functions/users/delete-user.endpoint.ts';
import { type TestService, type TestUser, testService } from '../../support/service.ts';
import { newProject } from '../projects/new-project.ts';
import { json } from '../users/body.ts';

const names = (answer: { status: number; text: string; json: { name: string }[] }): string => {
  expect(answer.status, answer.text).toBe(200);
  return answer.json.map(({ name }) => name).join(' ');
};

describe('a search of experiments', () => {
  let service: TestService;
  let as: TestUser;
  let project_id: string;

  const made = async (body: object, in_project = project_id) => {
    const answer = await service.call(create, { path: { project_id: in_project }, as, ...json(body) });
    expect(answer.status, answer.text).toBe(200);
    return { project_id: in_project, experiment_id: answer.json.experiment_id as string };
  };
  const log = async (path: object, ...metrics: object[]) =>
    expect((await service.call(logMetrics, { path: { ...path }, as, ...json({ metrics }) })).status).toBe(
      200,
    );
  const find = (query: Record<string, string> | string) =>
    service.call(list, { path: { project_id }, query, as });

  beforeAll(async () => {
    service = await testService();
    as = await service.user('developer');
    project_id = await newProject(service, as);
    const a = await made({ name: 'a', params: { lr: '0.1', 'batch size': 8 }, tags: { stage: 'final' } });
    const b = await made({ name: 'b', params: { lr: '0.02' } });
    const c = await made({ name: 'c' });
    await log(a, { name: 'loss', value: 0.5, step: 1 }, { name: 'val/loss "x"', value: 3 });
    await log(b, { name: 'loss', value: 'NaN' });
    await service.call(update, { path: c, as, ...json({ status: 'FAILED' }) });
  });

  test.each(['', "&filter=name = 'measured'"])(
    'has what machines did only where `fields` names it%s',
    async (filter) => {
      const own = await newProject(service, as);
      const path = await made({ name: 'measured' }, own);
      await log(path, { name: 'loss', value: 1 }, { name: 'system/gpu_0_utilization_percentage', value: 80 });
      const listed = (fields: string) =>
        service.call(list, { path: { project_id: own }, query: `${fields}${filter}`, as });

      const asked = await listed('fields=name,system');
      const plain = await listed('limit=1');

      expect(asked.json[0].system.metrics).toMatchObject({
        'system/gpu_0_utilization_percentage': { last: 80 },
      });
      expect(plain.json[0]).toMatchObject({ system: null, metrics: { loss: { last: 1 } } });
    },
  );

  test.each([
    ['metrics.loss = 0.5', 'a'],
    ['metrics.`val/loss "x"` > 2', 'a'],
    ['params.lr < 0.05', 'b'],
    ["params.`batch size` = '8' AND tags.stage LIKE 'fin%'", 'a'],
    ["status = 'FAILED'", 'c'],
    ["kind = 'logged' AND config IS NULL AND cost IS NULL", 'c b a'],
    ["stopped_at IS NULL AND duration >= 0 AND created_at > '2020-01-01'", 'b a'],
    ["name IN ('a', 'c')", 'c a'],
    ['lr < 0.05 or stage = final', 'b a'],
    ['not (lr < 0.05 or stage is set)', 'c'],
    ['status in (failed, cancelled)', 'c'],
    ['created_at > yesterday and lr between 0.05 and 1', 'a'],
    ['stage ~ ^fin', 'a'],
    ['FINAL', 'a'],
    ['duration < 10 days loss = 0.5', 'a'],
  ])('by %s', async (filter, found) => {
    expect(names(await find({ filter }))).toBe(found);
  });

  test('by the name of its user', async () => {
    expect(names(await find({ filter: `user = '${as.user.username}'` }))).toBe('c b a');
    expect(names(await find({ filter: `user != '${as.user.username}'`, order_by: 'user' }))).toBe('');
  });

  test('names the user of each experiment, until that user is deleted', async () => {
    const leaver = await service.user('admin');
    const path = { project_id: await newProject(service, leaver) };
    const begun = await service.call(create, { path, as: leaver, ...json({ name: 'left' }) });
    const { user_id, username } = leaver.user;
    expect(begun.json).toMatchObject({ user: username, user_id });
    const at = { ...path, experiment_id: begun.json.experiment_id as string };
    const rows = async () => {
      const queries = [{}, { order_by: 'name' }, { filter: 'user IS NULL' }, { filter: 'user IS NOT NULL' }];
      const lists = await Promise.all(queries.map((query) => service.call(list, { path, query, as })));
      const one = await service.call(read, { path: at, as });
      return [...lists.flatMap((answer) => answer.json), one.json].map(
        (row: { user: unknown; user_id: unknown }) => [row.user, row.user_id],
      );
    };
    expect(await rows()).toEqual(Array(4).fill([username, user_id]));

    const deleted = await service.call(deleteUser, { query: { username }, as: await service.user('admin') });
    expect(deleted.status, deleted.text).toBe(200);
    expect(await rows()).toEqual(Array(4).fill([null, user_id]));
  });

  test('is ordered, with NaN and then what is missing last', async () => {
    expect(names(await find({ order_by: 'metrics.loss' }))).toBe('a b c');
    expect(names(await find({ order_by: 'metrics.loss DESC' }))).toBe('a b c');
    expect(names(await find({ order_by: 'params.lr ASC, name DESC' }))).toBe('b a c');
  });

  test('answers the fields that are wanted', async () => {
    for (const filter of [{}, { filter: "name = 'a'" }]) {
      const answer = await find({ ...filter, limit: '1', fields: 'params, name' });
      expect(Object.keys(answer.json[0])).toEqual(['params', 'name']);
    }
    for (const filter of [{}, { filter: "name = 'a'", order_by: 'name' }]) {
      const all = await find({
        ...filter,
        fields: 'name,tags.stage,params.`batch size`,metrics.`val/loss "x"`',
      });
      const a = all.json.find(({ name }: { name: string }) => name === 'a');
      expect(a).toMatchObject({ name: 'a', tags: { stage: 'final' }, params: { 'batch size': '8' } });
      expect(Object.keys(a.metrics)).toEqual(['val/loss "x"']);
      const whole = await find({ ...filter, fields: 'metrics.loss,best,warnings,metrics' });
      expect(Object.keys(whole.json.at(-1).metrics).length).toBeGreaterThan(0);
    }
    for (const [fields, field] of [
      ['name.first', 'name.first'],
      ['metrics.a,parms.`a,b`', 'parms.`a,b`'],
      ['name,', '"" (at a comma)'],
      ['', '"" (at a comma)'],
      ['metrics.`a', undefined],
    ] as const) {
      const answer = await find({ fields });
      expect(answer.status, fields).toBe(field === undefined ? 200 : 400);
      if (field !== undefined)
        expect(answer.json.errors[0].message).toContain(`has the unknown field ${field}; allowed are `);
    }
    const refused = await find({ fields: 'name,parms' });
    expect(refused.status).toBe(400);
    expect(refused.json.errors[0].message).toMatch(
      /^has the unknown field parms; allowed are experiment_id, /,
    );
  });

  test('says what is wrong, everything at once', async () => {
    const answer = await find({ filter: 'metrics.loss > high', order_by: 'name UP', limit: '0' });
    expect(answer.status).toBe(400);
    const errors = new Map(
      answer.json.errors.map((one: { name: string; message: string }) => [one.name, one.message]),
    );
    expect(errors.get('filter')).toBe('has high at position 16, where a number is expected');
    expect(errors.get('order_by')).toBe(
      'has UP at position 6, where ASC, DESC, a comma or the end is expected',
    );
    expect(errors.has('limit')).toBe(true);
    const unknown = await find({ filter: 'lr < 1 or los < 1' });
    expect(unknown.json.errors[0].message).toBe(
      'has los, which no experiment has as a param, metric or tag; did you mean loss?',
    );
    const terms = await find({ order_by: 'name,name,name,name,name' });
    expect(terms.json.errors[0].message).toBe('has 5 names; at most 4 are allowed');
  });

  test('pages by where a page ended, whatever is added and deleted between pages', async () => {
    const paged = await newProject(service, as);
    const paths = [];
    for (const lr of ['3', '1', '2', '1'])
      paths.push(await made({ name: `lr ${lr}`, params: { lr } }, paged));
    const page = (query: Record<string, string> | string) =>
      service.call(list, { path: { project_id: paged }, query, as });
    const first = await page({ order_by: 'params.lr', limit: '2', fields: 'experiment_id' });
    const ids = first.json.map((one: { experiment_id: string }) => one.experiment_id);
    expect(ids).toEqual([paths[3]!.experiment_id, paths[1]!.experiment_id]);
    const next = /^<\?(.*)>; rel="next"$/.exec(first.headers['link'] ?? '')?.[1] ?? '';
    await service.call(update, { path: paths[1]!, as, ...json({ status: 'FAILED' }) });
    expect((await service.call(remove, { path: paths[1]!, as })).status).toBe(200);
    await made({ name: 'lr 0', params: { lr: '0' } }, paged);
    await made({ name: 'lr 2.5', params: { lr: '2.5' } }, paged);
    const second = await page(`${next}&limit=3`.replace('&limit=2', '').replace('limit=2&', ''));
    expect(second.json.map((one: { experiment_id: string }) => one.experiment_id)).toHaveLength(3);
    expect(second.headers['link']).toBeUndefined();
    const cursor = new URLSearchParams(next).get('cursor')!;
    expect((await page({ order_by: 'params.lr, name', cursor })).status).toBe(400);
  });

  test('goes over all projects, or over several', async () => {
    const other = await newProject(service, as);
    await made({ name: 'elsewhere', tags: { stage: 'final' } }, other);
    const filter = encodeURIComponent("tags.stage = 'final'");
    const over = (query: string) => service.call(search, { query, as });
    expect(names(await over(`filter=${filter}`))).toBe('elsewhere a');
    expect(names(await over(`project_id=${other}&project_id=${project_id}&order_by=name`))).toBe(
      'a b c elsewhere',
    );
    const page = await over(`project_id=${other}&project_id=${project_id}&limit=1`);
    expect(names(page)).toBe('elsewhere');
    const next = /^<\?(.*)>; rel="next"$/.exec(page.headers['link'] ?? '')?.[1] ?? '';
    expect(names(await over(next))).toBe('c');
    expect((await over('project_id=01h00000000000000000000000')).status).toBe(404);
    expect((await over('project_id=x')).json.errors[0]).toMatchObject({ in: 'query', name: 'project_id' });
  });
});
