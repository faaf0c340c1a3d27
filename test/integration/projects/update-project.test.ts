import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { endpoint as createExperiment } from '../../../functions/experiments/records/create-experiment.endpoint.ts';
import { endpoint as readProject } from '../../../functions/projects/projects/read-project.endpoint.ts';
import { endpoint as updateProject } from '../../../functions/projects/projects/update-project.endpoint.ts';
import { removeProject, requireProject } from '../../../shared/data/projects/project.ts';
import { type TestService, type TestUser, testService } from '../../support/service.ts';
import { newProject } from './new-project.ts';

describe('change a project', () => {
  let service: TestService;
  let owner: TestUser;
  let path: { project_id: string };

  beforeAll(async () => {
    service = await testService();
    owner = await service.user('developer');
  });
  beforeEach(async () => {
    path = { project_id: await newProject(service, owner) };
  });

  const json = (body: unknown, headers: Record<string, string> = {}) =>
    service.call(updateProject, {
      path,
      body: typeof body === 'string' ? body : JSON.stringify(body),
      headers: { 'Content-Type': 'application/json', ...headers },
      as: owner,
    });

  test('changes what is given and nothing else', async () => {
    const before = (await service.call(readProject, { path, as: owner })).json;
    const changed = await json({ project_name: 'Zahlen', project_task: 'regression' });
    expect(changed.status).toBe(200);
    expect(changed.json).toMatchObject({
      ...path,
      project_name: 'Zahlen',
      project_task: 'regression',
      project_description: before.project_description,
      project_type: before.project_type,
      owner: before.owner,
      created_at: before.created_at,
    });
    expect(changed.json.updated_at >= before.updated_at).toBe(true);
    expect(changed.headers['etag']).toMatch(/^"2-/);
    expect((await service.call(readProject, { path, as: owner })).json).toMatchObject(changed.json);
  });

  test('saves views and a baseline, and removes them', async () => {
    const logged = await service.call(createExperiment, {
      path,
      body: JSON.stringify({ name: 'first' }),
      headers: { 'Content-Type': 'application/json' },
      as: owner,
    });
    const views = [
      { name: 'Best', address: 'sort=-best&filter=lr%20%3C%200.1' },
      { name: 'Plain', address: '' },
    ];
    const read = async () => (await service.call(readProject, { path, as: owner })).json;

    expect((await json({ views })).status).toBe(200);
    expect((await json({ baseline: logged.json.experiment_id })).status).toBe(200);
    const saved = await read();
    expect((await json({ views: [], baseline: null })).status).toBe(200);

    expect(saved).toMatchObject({ views, baseline: logged.json.experiment_id });
    expect(await read()).toMatchObject({ views: [], baseline: null });
  });

  test('takes a form too', async () => {
    const { status, json: answer } = await service.call(updateProject, {
      path,
      body: 'project_description=two%0Alines',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded; charset=utf-8' },
      as: owner,
    });
    expect(status).toBe(200);
    expect(answer.project_description).toBe('two\nlines');
  });

  test.each([
    ['nothing', '', 'body', 'at least one of project_name'],
    ['an empty object', '{}', 'body', 'at least one of project_name'],
    ['no JSON', '{"project_name":', 'body', 'is not valid JSON'],
    ['a list', '[]', 'body', 'must be a JSON object'],
    ['a blank name', '{"project_name":"  "}', 'project_name', 'is blank'],
    ['an empty name', '{"project_name":""}', 'project_name', 'is blank'],
    ['a long name', JSON.stringify({ project_name: 'n'.repeat(129) }), 'project_name', 'longer than 128'],
    ['a number', '{"project_name":1}', 'project_name', 'must be a string'],
    ['null', '{"project_name":null}', 'project_name', 'must be a string'],
    ['a control character', '{"project_type":"a\\u0000b"}', 'project_type', 'control character'],
    ['the owner', '{"owner_id":"me"}', 'owner_id', 'is not a parameter'],
    ['the published name of creation', '{"project-name":"x"}', 'project-name', 'allowed are project_name'],
    ['a view without an address', '{"views":[{"name":"a"}]}', 'views.0.address', 'must be a string'],
    [
      'a view with spaces',
      '{"views":[{"name":"a","address":"a b"}]}',
      'views.0.address',
      'must be URL-encoded',
    ],
    [
      'two views of one name',
      '{"views":[{"name":"a","address":""},{"name":"a","address":""}]}',
      'views.1.name',
      'another view',
    ],
    [
      'too many views',
      JSON.stringify({ views: Array.from({ length: 31 }, (_, at) => ({ name: `${at}`, address: '' })) }),
      'views',
      'at most 30 views',
    ],
    [
      'the baseline of another project',
      '{"baseline":"01jgk8c1d5f9h3k7n0q4t8w2za"}',
      'baseline',
      'no experiment of the project',
    ],
    ['a prototype', '{"__proto__":{"project_name":"x"}}', '__proto__', 'is not a parameter'],
  ])('refuses %s', async (_, body, name, message) => {
    const answer = await json(body);
    expect(answer.status).toBe(400);
    expect(answer.json.errors).toEqual([{ in: 'body', name, message: expect.stringContaining(message) }]);
  });

  test('refuses other media types and bytes that are no text', async () => {
    const call = (body: string | Uint8Array, mediaType: string) =>
      service.call(updateProject, { path, body, headers: { 'Content-Type': mediaType }, as: owner });
    expect((await call('project_name: x', 'application/yaml')).status).toBe(415);
    expect((await call(Buffer.of(0x7b, 0xff, 0x7d), 'application/json')).status).toBe(400);
    expect((await call(Buffer.alloc(1024 * 1024 + 1, ' '), 'application/json')).status).toBe(413);
  });

  test('honours If-Match', async () => {
    const { headers } = await service.call(readProject, { path, as: owner });
    const tag = headers['etag']!;
    const first = await json({ project_name: 'first' }, { 'If-Match': tag });
    expect(first.status).toBe(200);
    const stale = await json({ project_name: 'second' }, { 'If-Match': tag });
    expect(stale.status).toBe(412);
    expect(stale.json.type).toContain('precondition-failed');
    expect((await json({ project_name: 'second' }, { 'If-Match': first.headers['etag']! })).status).toBe(200);
    expect((await json({ project_name: 'third' }, { 'If-Match': '*' })).status).toBe(200);
    const malformed = await json({ project_name: 'fourth' }, { 'If-Match': 'yesterday' });
    expect(malformed.json.errors).toEqual([expect.objectContaining({ in: 'header', name: 'If-Match' })]);
  });

  test('changes at the same moment are all done, and of two with one If-Match just one', async () => {
    const fields = ['project_name', 'project_description', 'project_type', 'project_task'];
    const answers = await Promise.all(fields.map((name) => json({ [name]: `new ${name}` })));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const now = await service.call(readProject, { path, as: owner });
    for (const name of fields) expect(now.json[name]).toBe(`new ${name}`);
    const rivals = await Promise.all(
      ['a', 'b'].map((project_name) => json({ project_name }, { 'If-Match': now.headers['etag']! })),
    );
    expect(rivals.map(({ status }) => status).sort()).toEqual([200, 412]);
  });

  test('a project that is deleted stays deleted', async () => {
    const project = await requireProject(service.records, path.project_id);
    await service.records.write(...removeProject(project));
    expect((await json({ project_name: 'ghost' })).status).toBe(404);
    expect((await service.call(readProject, { path, as: owner })).status).toBe(404);
  });
});
