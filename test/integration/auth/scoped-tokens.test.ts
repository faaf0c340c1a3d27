import { beforeAll, describe, expect, test } from 'vitest';
import { endpoint as createNamedToken } from '../../../functions/auth/create-named-token.endpoint.ts';
import { endpoint as listTokens } from '../../../functions/auth/list-tokens.endpoint.ts';
import { endpoint as revokeToken } from '../../../functions/auth/revoke-token.endpoint.ts';
import { endpoint as createExperiment } from '../../../functions/experiments/records/create-experiment.endpoint.ts';
import { endpoint as searchExperiments } from '../../../functions/experiments/search/search-experiments.endpoint.ts';
import { endpoint as serveMlflow } from '../../../functions/mlflow/serve-mlflow.endpoint.ts';
import { endpoint as createModel } from '../../../functions/optimization/models/create-model.endpoint.ts';
import { endpoint as listModels } from '../../../functions/optimization/models/list-models.endpoint.ts';
import { endpoint as readModel } from '../../../functions/optimization/models/read-model.endpoint.ts';
import { endpoint as deleteProject } from '../../../functions/projects/projects/delete-project.endpoint.ts';
import { endpoint as listProjects } from '../../../functions/projects/projects/list-projects.endpoint.ts';
import { endpoint as markProjectDeleted } from '../../../functions/projects/projects/mark-project-deleted.endpoint.ts';
import { endpoint as readProject } from '../../../functions/projects/projects/read-project.endpoint.ts';
import { newId } from '../../../shared/core/new-id.ts';
import { putModel } from '../../../shared/data/models/model.ts';
import { recordedCompression } from '../../support/compression.ts';
import { holdRecency } from '../../support/hold-recency.ts';
import { recordedModel } from '../../support/model.ts';
import { type TestService, type TestUser, testService } from '../../support/service.ts';
import { tableRequests } from '../../support/table-requests.ts';
import { newProject } from '../projects/new-project.ts';
import { json } from '../users/body.ts';

describe('a token with a scope', () => {
  let service: TestService;
  let ada: TestUser;
  let inside: string;
  let outside: string;
  beforeAll(async () => {
    service = await testService();
    ada = await service.user('developer');
    inside = await newProject(service, ada);
    outside = await newProject(service, ada);
    for (const project_id of [inside, outside]) await record(ada, project_id);
  });

  const create = (as: TestUser, scope?: object) =>
    service.call(createNamedToken, { ...json({ name: 'ci', scope }), as });
  async function withScope(as: TestUser, scope?: object): Promise<TestUser & { token_id: string }> {
    const { json: made } = await create(as, scope);
    return { ...as, token: made.access_token, token_id: made.token_id };
  }
  const record = (as: TestUser, project_id: string) =>
    service.call(createExperiment, { ...json({}), as, path: { project_id } });
  const read = (as: TestUser, project_id: string) => service.call(readProject, { as, path: { project_id } });
  const mlflow = (as: TestUser, method: 'GET' | 'POST', path: string, fields: object = {}) =>
    service.call(serveMlflow, {
      as,
      method,
      path: { mlflow_path: `api/2.0/mlflow/${path}` },
      ...(method === 'POST' ? json(fields) : { query: { ...fields } }),
    });

  const artifact = { kind: 'artifact', experiment_id: newId(), path: 'm.onnx' } as const;
  async function model(origin: Parameters<typeof putModel>[1]['origin']): Promise<string> {
    const made = await recordedModel(service, ada);
    await putModel(service.records, { ...made, origin, version: 2 }, made);
    return made.model_name;
  }

  const projectsIn = (rows: { project_id: string }[]) => [...new Set(rows.map((row) => row.project_id))];

  test('says so in the list, where a token without one has null', async () => {
    const grace = await service.user('developer');
    const project_id = await newProject(service, grace);
    const made = await create(grace, { projects: [project_id, project_id], rights: 'record' });
    await create(grace);

    const { json: listed } = await service.call(listTokens, { as: grace });

    expect(made.json.scope).toEqual({ projects: [project_id], rights: 'record' });
    // Earlier releases take a token of 43 characters for one with all rights.
    expect(made.json.access_token.split('.')[1]).toMatch(/^s[\w-]{43}$/);
    expect(listed.map(({ scope }: { scope: unknown }) => scope)).toEqual([null, made.json.scope, null]);
  });

  test('takes rights away from the present role of its user, and gives none', async () => {
    const grace = await service.user('developer');
    const viewer = await service.user('viewer');
    const all = await withScope(grace, { rights: 'run' });
    const ofViewer = await withScope(viewer, { rights: 'run' });

    expect((await record(all, inside)).status).toBe(403);
    expect((await record(ofViewer, inside)).status).toBe(403);
    expect((await read(all, inside)).status).toBe(200);
  });

  test('names no project in which its user could not use it: missing, deleted, of somebody else', async () => {
    const grace = await service.user('developer');
    const [missing, deleted] = [newId(), await newProject(service, grace)];
    await service.call(markProjectDeleted, { as: grace, path: { project_id: deleted } });

    const refused = await create(grace, { rights: 'run', projects: [missing, deleted, inside] });
    const reading = await create(grace, { rights: 'read', projects: [inside] });
    const guest = await create(await service.user('guest'), { rights: 'read', projects: [inside] });

    expect(refused.status).toBe(400);
    expect(refused.json.errors.map(({ message }: { message: string }) => message)).toEqual([
      expect.stringContaining(missing),
      expect.stringContaining(deleted),
      expect.stringContaining(inside),
    ]);
    expect([reading.status, guest.status]).toEqual([201, 403]);
  });

  test.each([
    { rights: 'all' },
    { rights: 'read', projects: [] },
    { rights: 'read', projects: ['x'] },
    { projects: [] },
    { rights: 'read', project: 'x' },
    'read',
    [],
    null,
  ])('is refused with what is wrong in %j', async (scope) => {
    const { status, json: problem } = await service.call(createNamedToken, {
      ...json({ name: 'ci', scope }),
      as: ada,
    });

    expect(status).toBe(400);
    expect(problem.errors[0].name).toMatch(/^scope/);
  });

  test('makes no token, revokes none and lists itself alone', async () => {
    const run = await withScope(ada, { rights: 'run' });

    const { token_id } = run;
    const answers = [
      await create(run, { rights: 'read' }),
      await create(run),
      await service.call(revokeToken, { as: run, path: { token_id } }),
    ];
    const { json: listed } = await service.call(listTokens, { as: run });

    expect(answers.map(({ status }) => status)).toEqual([403, 403, 403]);
    expect(listed).toMatchObject([{ token_id, current: true, scope: { rights: 'run', projects: null } }]);
  });

  test('does nothing once it is revoked', async () => {
    const run = await withScope(ada, { rights: 'run', projects: [inside] });
    expect((await record(run, inside)).status).toBe(200);

    await service.call(revokeToken, { as: ada, path: { token_id: run.token_id } });
    const answers = [await record(run, inside), await read(run, inside), await read(run, outside)];

    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401]);
  });

  test('reaches the projects that it names, and no others, whether they exist or not', async () => {
    const run = await withScope(ada, { rights: 'run', projects: [inside] });

    const answers = await Promise.all([inside, outside, newId()].map((id) => record(run, id)));

    const [, other, missing] = answers;
    expect(answers.map(({ status }) => status)).toEqual([200, 403, 403]);
    expect(other?.json.detail).toBe(missing?.json.detail);
  });

  test('lists and searches only its projects, also while its user searches all at the same time', async () => {
    const reading = await withScope(ada, { rights: 'read', projects: [inside] });
    const search = (as: TestUser, query = '') => service.call(searchExperiments, { as, query });

    const listed = await service.call(listProjects, { as: reading });
    const [all, narrowed] = await Promise.all([search(ada), search(reading)]);
    const named = await search(reading, `project_id=${inside}&project_id=${outside}`);

    expect(projectsIn(listed.json)).toEqual([inside]);
    expect(projectsIn(all.json).sort()).toEqual([inside, outside].sort());
    expect(projectsIn(narrowed.json)).toEqual([inside]);
    expect(named.status).toBe(403);
  });

  test('searches the projects that are left of its scope', async () => {
    const gone = await newProject(service, ada);
    const reading = await withScope(ada, { rights: 'read', projects: [inside, gone] });
    const only = await withScope(ada, { rights: 'read', projects: [gone] });
    await service.call(deleteProject, { as: ada, path: { project_id: gone } });

    const answers = await Promise.all(
      [reading, only].map((as) => service.call(searchExperiments, { as, query: 'fields=project_id' })),
    );

    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(answers.map(({ json: rows }) => projectsIn(rows))).toEqual([[inside], []]);
  });

  test('reaches the models of its projects only', async () => {
    const own = await model({ ...artifact, project_id: inside });
    const others = [await model({ ...artifact, project_id: outside }), await model({ kind: 'upload' })];
    const reading = await withScope(ada, { rights: 'read', projects: [inside] });

    const listed = await service.call(listModels, { as: reading });
    const answers = await Promise.all(
      [own, ...others].map((model_name) => service.call(readModel, { as: reading, path: { model_name } })),
    );

    expect(listed.json.map(({ model_name }: { model_name: string }) => model_name)).toEqual([own]);
    expect(answers.map(({ status }) => status)).toEqual([200, 403, 403]);
  });

  test('makes models of artifacts of its projects, and changes no other model', async () => {
    const query = { experiment_id: newId(), path: 'm.onnx' };
    const upload = { sha256: '0'.repeat(64), size: '9' };
    const other = await model({ ...artifact, project_id: outside });
    const run = await withScope(ada, { rights: 'run', projects: [inside] });
    const anywhere = await withScope(ada, { rights: 'run' });

    const make = (as: TestUser, name: string, asked: Record<string, string>) =>
      service.call(createModel, { as, path: { model_name: name }, query: asked });
    const answers = [
      await make(run, 'new', query),
      await make(run, 'new', upload),
      await make(run, other, upload),
      await make(anywhere, 'new', query),
      await make(await withScope(ada, { rights: 'record' }), 'new', query),
    ];

    expect(answers.map(({ status }) => status)).toEqual([403, 403, 403, 404, 403]);
  });

  test('reaches the result of a compression by the project of its model, whatever has that name by now', async () => {
    const reading = await withScope(ada, { rights: 'read', projects: [inside] });
    const renamed = await model({ ...artifact, project_id: inside });
    const resultOf = async (project_id: string, model_name: string) => {
      const compression = { project_id, model_name };
      const { strategy_id } = await recordedCompression(service, ada, 'prune', true, newId(), compression);
      return model({ kind: 'strategy', strategy_id, model_name });
    };
    const results = [await resultOf(inside, 'gone'), await resultOf(outside, renamed)];

    const answers = await Promise.all(
      results.map((model_name) => service.call(readModel, { as: reading, path: { model_name } })),
    );

    expect(answers.map(({ status }) => status)).toEqual([200, 403]);
  });

  test('gets no answer that another scope of its user got with the same Idempotency-Key', async () => {
    const run = await withScope(ada, { rights: 'run' });
    const narrow = await withScope(ada, { rights: 'run', projects: [inside] });
    const ask = ({ token }: TestUser) =>
      service.call(createExperiment, {
        ...json({}),
        headers: {
          'Content-Type': 'application/json',
          Authorization: `Bearer ${token}`,
          'Idempotency-Key': 'one',
        },
        path: { project_id: inside },
      });

    const answers = [await ask(run), await ask(run), await ask(narrow)];

    expect(answers.map(({ status }) => status)).toEqual([200, 200, 422]);
  });

  test('reads one project with the requests of a token without one', async () => {
    const reading = await withScope(ada, { rights: 'read', projects: [inside] });
    holdRecency().pass();
    const requestsOf = (as: TestUser) => tableRequests(service, readProject, () => read(as, inside));

    const withoutScope = await requestsOf(ada);

    expect(await requestsOf(reading)).toEqual(withoutScope);
  });

  test('records by MLflow in its projects, and creates and deletes none', async () => {
    const name = `digits ${newId()}`;
    const { json: created } = await mlflow(ada, 'POST', 'experiments/create', { name });
    const recording = await withScope(ada, { rights: 'record', projects: [created.experiment_id] });

    const found = await mlflow(recording, 'POST', 'experiments/search', { max_results: 100 });
    const begun = await mlflow(recording, 'POST', 'runs/create', created);
    const run_id = begun.json.run.info.run_id;
    const statuses = await Promise.all(
      (
        [
          ['POST', 'runs/log-metric', { run_id, key: 'loss', value: 1, timestamp: 1 }],
          ['GET', 'experiments/get-by-name', { experiment_name: name }],
          ['POST', 'runs/search', { experiment_ids: [created.experiment_id] }],
          ['POST', 'runs/create', { experiment_id: outside }],
          ['POST', 'runs/create', { experiment_id: '0' }],
          ['POST', 'runs/search', { experiment_ids: [created.experiment_id, outside] }],
          ['POST', 'experiments/create', { name: 'another' }],
          ['POST', 'experiments/delete', created],
          ['POST', 'runs/delete', { run_id }],
          ['GET', 'registered-models/search', {}],
          ['POST', 'registered-models/create', { name: 'm' }],
        ] as const
      ).map(async ([method, path, fields]) => (await mlflow(recording, method, path, fields)).status),
    );

    expect(found.json.experiments.map((one: { name: string }) => one.name)).toEqual([name]);
    expect(statuses).toEqual([200, 200, 200, 403, 403, 403, 403, 403, 403, 403, 403]);
  });

  test('that only reads gets no default experiment made for it', async () => {
    const grace = await service.user('developer');
    const reading = await withScope(grace, { rights: 'read' });

    const { status } = await mlflow(reading, 'GET', 'experiments/get', { experiment_id: '0' });
    const listed = await service.call(listProjects, { as: grace, query: 'member=true' });

    expect([status, listed.json]).toEqual([403, []]);
  });
});
