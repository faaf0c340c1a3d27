import { beforeAll, describe, expect, test } from 'vitest';
import { grantedService } from '../../support/granting-emulator.ts';
import type { TestService } from '../../support/service.ts';
import { type MlflowCaller, mlflowCaller } from './mlflow-caller.ts';

let service: TestService;
let ada: MlflowCaller;
beforeAll(async () => {
  const granted = await grantedService();
  service = granted.service;
  ada = mlflowCaller(service, await service.user('developer'));
  return granted.close;
});

const source = 's3://models/churn';
const change = (method: 'PATCH' | 'DELETE', path: string, body: object) =>
  ada.call(method, `api/2.0/mlflow/${path}`, { body: JSON.stringify(body) });

describe('registered models', () => {
  test('have versions, aliases, tags and stages', async () => {
    const name = 'churn';
    await ada.post('registered-models/create', {
      name,
      description: 'Who leaves',
      tags: [{ key: 'a', value: 'b' }],
    });
    const versions = await Promise.all(
      [1, 2, 3].map(() => ada.post('model-versions/create', { name, source })),
    );
    expect(versions.map(({ json }) => json.model_version.version).sort()).toEqual(['1', '2', '3']);
    await ada.post('registered-models/alias', { name, alias: 'champion', version: '2' });
    const byAlias = await ada.get('registered-models/alias', { name, alias: 'champion' });
    expect(byAlias.json.model_version).toMatchObject({
      version: '2',
      aliases: ['champion'],
      status: 'READY',
    });
    const move = { name, stage: 'Production', archive_existing_versions: true };
    await ada.post('model-versions/transition-stage', { ...move, version: '1' });
    await ada.post('model-versions/transition-stage', { ...move, version: '3' });
    await ada.post('model-versions/set-tag', { name, version: '1', key: 'checked', value: 'yes' });
    const { json } = await ada.get('registered-models/get', { name });
    const stages = json.registered_model.latest_versions.map(
      (one: { version: string; current_stage: string }) => [one.version, one.current_stage],
    );
    expect(stages.sort()).toEqual([
      ['1', 'Archived'],
      ['2', 'None'],
      ['3', 'Production'],
    ]);
    const search = async (filter: string): Promise<string[]> => {
      const found = await ada.get('model-versions/search', { filter });
      return found.json.model_versions.map(({ version }: { version: string }) => version).sort();
    };
    expect(await search("name = 'churn' AND tags.checked = 'yes'")).toEqual(['1']);
    expect(await search("name = 'churn' AND tags.`mlflow.prompt.is_prompt` != 'true'")).toEqual([
      '1',
      '2',
      '3',
    ]);
    expect(await search("name = 'nobody'")).toEqual([]);
    await change('DELETE', 'model-versions/delete', { name, version: '2' });
    const after = await ada.get('registered-models/get', { name });
    expect(after.json.registered_model.aliases).toEqual([]);
    expect((await ada.post('model-versions/create', { name, source })).json.model_version.version).toBe('4');
  });

  test('keep their versions under a new name, and lose them with their end', async () => {
    await ada.post('registered-models/create', { name: 'old' });
    await ada.post('model-versions/create', { name: 'old', source });
    await ada.post('registered-models/rename', { name: 'old', new_name: 'new' });
    const version = { name: 'new', version: '1' };
    expect((await ada.get('model-versions/get', version)).json.model_version).toMatchObject(version);
    expect((await ada.get('registered-models/get', { name: 'old' })).status).toBe(404);
    await change('DELETE', 'registered-models/delete', { name: 'new' });
    await ada.post('registered-models/create', { name: 'new' });
    expect((await ada.get('model-versions/get', version)).status).toBe(404);
  });

  test('are changed by their owner and admins alone', async () => {
    const name = 'mine';
    await ada.post('registered-models/create', { name });
    const bob = mlflowCaller(service, await service.user('developer'));
    const root = mlflowCaller(service, await service.user('admin'));
    const tag = { name, key: 'a', value: 'b' };
    expect((await bob.get('registered-models/get', { name })).json.registered_model).toMatchObject({
      name,
      owner_id: ada.user.user.user_id,
    });
    expect((await bob.post('registered-models/set-tag', tag)).status).toBe(403);
    expect((await bob.post('model-versions/create', { name, source })).status).toBe(403);
    expect((await root.post('registered-models/set-tag', tag)).status).toBe(200);
  });

  test('are refused with a reason', async () => {
    const name = 'strict';
    await ada.post('registered-models/create', { name });
    const answers = [
      await ada.post('registered-models/create', { name }),
      await ada.post('registered-models/create', { name: 'a/b' }),
      await ada.post('model-versions/create', { name, source: '/home/ada/model' }),
      await ada.post('model-versions/create', { name, source: 'file:///etc/passwd' }),
      await ada.post('registered-models/alias', { name, alias: 'v1', version: '1' }),
      await ada.get('model-versions/get', { name, version: 'x' }),
      await ada.get('model-versions/get', { name, version: '1' }),
      await ada.get('registered-models/get', { name: 'nobody' }),
      // More bytes than a key has, in fewer characters.
      await ada.get('registered-models/get', { name: '𝕬'.repeat(300) }),
      await ada.post('registered-models/rename', { name: '𝕬'.repeat(300), new_name: 'a' }),
      await ada.post('model-versions/transition-stage', { name, version: '1', stage: 'Best' }),
    ];
    expect(answers.map(({ status, json }) => `${status} ${json.error_code}`)).toEqual([
      '400 RESOURCE_ALREADY_EXISTS',
      '400 INVALID_PARAMETER_VALUE',
      '400 INVALID_PARAMETER_VALUE',
      '400 INVALID_PARAMETER_VALUE',
      '400 INVALID_PARAMETER_VALUE',
      '400 INVALID_PARAMETER_VALUE',
      '404 RESOURCE_DOES_NOT_EXIST',
      '404 RESOURCE_DOES_NOT_EXIST',
      '400 INVALID_PARAMETER_VALUE',
      '400 INVALID_PARAMETER_VALUE',
      '400 INVALID_PARAMETER_VALUE',
    ]);
  });
});

test('of two who delete or rename a model at the same moment, the later one finds none', async () => {
  for (const change of [
    (name: string) =>
      ada.call('DELETE', 'api/2.0/mlflow/registered-models/delete', { body: JSON.stringify({ name }) }),
    (name: string) => ada.post('registered-models/rename', { name, new_name: `${name}-${Math.random()}` }),
  ]) {
    const name = `contested-${Math.random()}`;
    await ada.post('registered-models/create', { name });
    const statuses = await Promise.all([1, 2, 3, 4].map(async () => (await change(name)).status));
    expect(statuses.sort()).toEqual([200, 404, 404, 404]);
  }
});
