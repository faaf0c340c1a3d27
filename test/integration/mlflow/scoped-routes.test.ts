import { beforeAll, describe, expect, test } from 'vitest';
import { endpoint as createNamedToken } from '../../../functions/auth/create-named-token.endpoint.ts';
import { endpoint as createExperiment } from '../../../functions/experiments/records/create-experiment.endpoint.ts';
import { endpoint as serveMlflow } from '../../../functions/mlflow/serve-mlflow.endpoint.ts';
import { newId } from '../../../shared/core/new-id.ts';
import { tokenRights } from '../../../shared/data/accounts/token-rights.ts';
import { artifactRoutes } from '../../../shared/mlflow/artifacts/routes.ts';
import { modelRoutes } from '../../../shared/mlflow/logged-models/routes.ts';
import { experimentRoutes } from '../../../shared/mlflow/projects/routes.ts';
import type { Route } from '../../../shared/mlflow/protocol/route.ts';
import { registeredRoutes } from '../../../shared/mlflow/registry/model-routes.ts';
import { versionRoutes } from '../../../shared/mlflow/registry/version-routes.ts';
import { runRoutes } from '../../../shared/mlflow/runs/routes.ts';
import { grantedService } from '../../support/granting-emulator.ts';
import type { TestService, TestUser } from '../../support/service.ts';
import { newProject } from '../projects/new-project.ts';
import { json } from '../users/body.ts';

const routes = [
  ...experimentRoutes,
  ...runRoutes,
  ...artifactRoutes,
  ...modelRoutes,
  ...registeredRoutes,
  ...versionRoutes,
];
const nameOf = ({ method, path }: Route) => `${method} ${path}`;

describe("MLflow's routes", () => {
  let service: TestService;
  let ada: TestUser;
  let inside: Fields;
  let outside: Fields;
  beforeAll(async () => {
    const granted = await grantedService();
    service = granted.service;
    ada = await service.user('developer');
    [inside, outside] = [
      await fieldsOf(await newProject(service, ada)),
      await fieldsOf(await newProject(service, ada)),
    ];
    return granted.close;
  });

  type Fields = Record<string, unknown> & { experiment_id: string };

  /** Fields with which any route can be asked about a project. */
  async function fieldsOf(experiment_id: string): Promise<Fields> {
    const path = { project_id: experiment_id };
    const begun = await service.call(createExperiment, { ...json({}), as: ada, path });
    const run_id = `${experiment_id}-${begun.json.experiment_id}`;
    const logged = { experiment_id, name: 'm', source_run_id: run_id };
    const route = { method: 'POST', path: 'mlflow/logged-models' } as Route;
    const model_id = (await ask(ada, route, logged)).json.model.info.model_id;
    const location = `${experiment_id}/${run_id}/artifacts/a.txt`;
    return {
      ...logged,
      experiment_ids: [experiment_id],
      run_id,
      run_uuid: run_id,
      run_ids: [run_id],
      model_id,
      location,
      path: location,
      artifact_file_path: 'a.txt',
      experiment_name: `another ${newId()}`,
      new_name: 'n',
      key: 'k',
      tag_key: 'k',
      metric_key: 'k',
      value: '1',
      timestamp: 1,
      status: 2,
      tags: [{ key: 'k', value: '1' }],
      model_json: '{"artifact_path":"a","flavors":{},"utc_time_created":"a","run_id":"a"}',
      source: `models:/${model_id}`,
      version: '1',
      alias: 'a',
      stage: 'None',
      upload_id: `${newId()}.a`,
      parts: [{ part_number: 1 }],
    };
  }

  function ask(as: TestUser, { method, path }: Route, fields: Record<string, unknown>) {
    const filled = path.replaceAll(/\{(\w+)\+?\}/g, (_, name: string) => String(fields[name]));
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(fields))
      for (const one of [value].flat()) query.append(name, String(one));
    const { run_uuid: _, ...sent } = fields;
    // It takes its names from the query, because its body is the file.
    const isQuery = method === 'GET' || path === 'mlflow/upload-artifact';
    return service.call(serveMlflow, {
      as,
      method,
      path: { mlflow_path: `api/2.0/${filled}` },
      ...(isQuery && { query: query.toString() }),
      ...(method !== 'GET' && json(sent)),
    });
  }

  async function scoped(rights: string): Promise<TestUser> {
    const scope = { rights, projects: [inside.experiment_id] };
    const { json: made } = await service.call(createNamedToken, { ...json({ name: 'ci', scope }), as: ada });
    return { ...ada, token: made.access_token };
  }

  async function statuses(as: TestUser, some: readonly Route[], fields: Fields) {
    const found: Record<string, number> = {};
    for (const route of some) found[nameOf(route)] = (await ask(as, route, fields)).status;
    return found;
  }

  const all = (some: readonly Route[], status: number) =>
    Object.fromEntries(some.map((route) => [nameOf(route), status]));

  test('answer a token with a scope nothing of another project', async () => {
    const run = await scoped('run');
    const search = routes.filter(({ path }) => path === 'mlflow/experiments/search');

    const found = await statuses(run, routes, outside);
    const listed = await Promise.all(search.map((route) => ask(run, route, {})));

    expect(found).toEqual({
      ...all(routes, 403),
      ...all(search, 200),
      'GET mlflow/experiments/get-by-name': 404,
    });
    for (const { text } of listed) expect(text).not.toContain(outside.experiment_id);
  });

  test('refuse a token with a scope whose right is too low, and no other', async () => {
    for (const [index, rights] of tokenRights.entries()) {
      const as = await scoped(rights);
      const isFor = ({ right = 'none', keepsToProjects }: Route) =>
        keepsToProjects === true && right !== 'none' && tokenRights.indexOf(right) <= index;
      const refused = routes.filter((route) => !isFor(route));

      expect(await statuses(as, refused, inside)).toEqual(all(refused, 403));
      const answered = await statuses(as, routes.filter(isFor), inside);
      expect(Object.entries(answered).filter(([, status]) => status === 403 || status >= 500)).toEqual([]);
    }
  });
});
