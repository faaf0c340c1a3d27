import { beforeAll, describe, expect, test } from 'vitest';
import { endpoint as deleteProject } from '../../../functions/projects/projects/delete-project.endpoint.ts';
import { endpoint as deleteVariable } from '../../../functions/projects/variables/delete-variable.endpoint.ts';
import { endpoint as deleteVariables } from '../../../functions/projects/variables/delete-variables.endpoint.ts';
import { endpoint as listVariables } from '../../../functions/projects/variables/list-variables.endpoint.ts';
import { endpoint as putVariable } from '../../../functions/projects/variables/put-variable.endpoint.ts';
import { endpoint as putVariables } from '../../../functions/projects/variables/put-variables.endpoint.ts';
import { endpoint as readVariable } from '../../../functions/projects/variables/read-variable.endpoint.ts';
import { openSealed } from '../../../shared/core/encryption.ts';
import {
  findVariablesKey,
  readVariables,
  secretPurpose,
  variablesPartition,
} from '../../../shared/data/projects/variable.ts';
import { type Answer, type TestService, type TestUser, testService } from '../../support/service.ts';
import { form, json } from '../users/body.ts';
import { newProject } from './new-project.ts';

const token = 'hf_0123456789abcdef';

describe('variables of a project', () => {
  let service: TestService;
  let owner: TestUser;
  let project_id: string;

  beforeAll(async () => {
    service = await testService();
    owner = await service.user('developer');
  });
  const fresh = async () => {
    project_id = await newProject(service, owner);
  };

  const put = (name: string, body: object, headers: Record<string, string> = {}) => {
    const call = json(body);
    const path = { project_id, name };
    return service.call(putVariable, { ...call, headers: { ...call.headers, ...headers }, path, as: owner });
  };
  const putAll = (variables: unknown, headers: Record<string, string> = {}) => {
    const call = json({ variables });
    const path = { project_id };
    return service.call(putVariables, { ...call, headers: { ...call.headers, ...headers }, path, as: owner });
  };
  const list = (headers: Record<string, string> = {}) =>
    service.call(listVariables, { path: { project_id }, headers, as: owner });
  const faultsOf = ({ json }: Answer) =>
    json.errors.map(({ name, message }: { name: string; message: string }) => `${name} ${message}`);

  test('a plain one can be read, and a secret only by its name', async () => {
    await fresh();
    expect((await list()).json).toEqual([]);
    const plain = await put('OMP_NUM_THREADS', { value: '2', secret: false });
    expect(plain.status, plain.text).toBe(200);
    expect(plain.json).toMatchObject({ name: 'OMP_NUM_THREADS', secret: false, value: '2' });
    const secret = await put('HF_TOKEN', { value: token });
    expect(secret.json).toMatchObject({ name: 'HF_TOKEN', secret: true, value: null });
    const found = await list();
    expect(found.json).toEqual([secret.json, plain.json]);
    const one = await service.call(readVariable, { path: { project_id, name: 'HF_TOKEN' }, as: owner });
    expect(one.json).toEqual(secret.json);
    expect(one.headers['etag']).toBe(secret.headers['etag']);
    expect((await list({ 'If-None-Match': found.headers['etag']! })).status).toBe(304);
    for (const { text } of [secret, found, one]) expect(text).not.toContain(token);
  });

  test('a secret is stored encrypted, for its own name in its own project', async () => {
    await fresh();
    await put('HF_TOKEN', { value: token });
    const { variables } = await readVariables(service.records, project_id);
    const { sealed } = variables.find(({ name }) => name === 'HF_TOKEN')!;
    expect(Buffer.from(sealed!).includes(token)).toBe(false);
    const key = (await findVariablesKey(service.accounts))!;
    expect(openSealed(key, sealed!, secretPurpose(project_id, 'HF_TOKEN'))).toBe(token);
    expect(() => openSealed(key, sealed!, secretPurpose(project_id, 'OTHER'))).toThrow('another key');
    const [stored] = (await service.records.query({ pk: variablesPartition(project_id) })).items;
    expect(JSON.stringify(stored)).not.toContain(token);
  });

  test('all are set at once: the others go, and a secret stays without its value', async () => {
    await fresh();
    const first = await putAll([
      { name: 'A_TOKEN', value: token },
      { name: 'B', value: '1', secret: false },
    ]);
    expect(first.json.map(({ name }: { name: string }) => name)).toEqual(['A_TOKEN', 'B']);
    const second = await putAll([{ name: 'A_TOKEN' }, { name: 'C', value: '', secret: false }]);
    expect(second.json).toMatchObject([first.json[0], { name: 'C', value: '' }]);
    expect(
      faultsOf(await putAll([{ name: 'NEW' }, { name: 'C' }, { name: 'C', value: 'x'.repeat(8) }])),
    ).toEqual([
      'variables.0.value is required for the new variable NEW',
      'variables.1.value is required, because C becomes a secret or stops being one',
      'variables.2.value is given twice: C already appears above',
    ]);
    expect((await list()).json).toEqual(second.json);
  });

  test('every change is conditional on the version that is named', async () => {
    await fresh();
    const first = await putAll([{ name: 'A', value: 'a', secret: false }]);
    const other = await put('B', { value: 'b', secret: false });
    expect((await putAll([], { 'If-Match': first.headers['etag']! })).status).toBe(412);
    expect(
      (await put('B', { value: 'c', secret: false }, { 'If-Match': other.headers['etag']! })).status,
    ).toBe(200);
    expect(
      (await put('B', { value: 'd', secret: false }, { 'If-Match': other.headers['etag']! })).status,
    ).toBe(412);
    // Deleted and set again is another version.
    const remove = (headers = {}) =>
      service.call(deleteVariable, { path: { project_id, name: 'B' }, headers, as: owner });
    expect((await remove({ 'If-Match': other.headers['etag']! })).status).toBe(412);
    expect((await remove()).json).toEqual({ name: 'B' });
    expect((await remove()).status).toBe(404);
    await put('B', { value: 'b', secret: false });
    expect((await remove({ 'If-Match': other.headers['etag']! })).status).toBe(412);
    const gone = await service.call(deleteVariables, { path: { project_id }, as: owner });
    expect(gone.json).toEqual({ project_id, deleted: { variables: 2 } });
    expect((await list()).json).toEqual([]);
    expect((await putAll([], { 'If-Match': first.headers['etag']! })).status).toBe(412);
  });

  test('names of the service and bad values are refused, all at once, without the values', async () => {
    await fresh();
    const answer = await putAll([
      { name: 'PATH', value: 'long-enough-secret' },
      { name: 'LD_PRELOAD', value: '/x.so', secret: false },
      { name: '1A', value: 'long-enough-secret' },
      { name: 'NUL', value: 'long-enough\0secret' },
      { name: 'LONG', value: 'x'.repeat(16 * 1024 + 1) },
      { name: 'KIND', value: 'long-enough-secret', secret: 'perhaps' },
      { name: 'EXTRA', value: 'long-enough-secret', extra: 1 },
    ]);
    expect(answer.status).toBe(400);
    expect(answer.text).not.toContain('long-enough');
    expect(faultsOf(answer).map((fault: string) => fault.split(/ (?:is|must|contains|has)/)[0])).toEqual([
      ...[
        'variables.0.name',
        'variables.1.name',
        'variables.2.name',
        'variables.3.value',
        'variables.4.value',
      ],
      ...['variables.5.secret', 'variables.6.extra'],
    ]);
    for (const name of ['AWS_BATCH_JOB_ID', 'CONFIG_PATH', 'RANK', '__proto__', 'A-B'])
      expect((await put(name, { value: token })).status, name).toBe(400);
    for (const name of ['AWS_ACCESS_KEY_ID', 'constructor', 'NODE_ENV', '_'])
      expect((await put(name, { value: token })).status, name).toBe(200);
    expect(faultsOf(await put('PIN', { value: ' 1234 ' }))).toEqual([
      'value is shorter than 8 characters, too short to be masked in logs. secret=false stores a readable value',
    ]);
    const inAddress = await service.call(putVariable, {
      path: { project_id, name: 'A' },
      query: { value: token },
      as: owner,
    });
    expect(inAddress.status).toBe(400);
    expect(inAddress.text).toContain('must not be in the URL');
    expect(inAddress.text).not.toContain(token);
  });

  test('all together have a limit, of bytes and of number', async () => {
    await fresh();
    const value = 'x'.repeat(16 * 1024);
    const many = Array.from({ length: 4 }, (_, n) => ({ name: `V${n}`, value, secret: false }));
    const answer = await putAll(many);
    expect(faultsOf(answer)).toEqual([
      'body would bring names and values to 65544 bytes; a project may have 65536',
    ]);
    expect((await putAll(many.slice(1))).status).toBe(200);
    const names = Array.from({ length: 101 }, (_, n) => ({ name: `V${n}`, value: 'a', secret: false }));
    expect((await putAll(names)).status).toBe(400);
    expect((await putAll(names.slice(1))).status).toBe(200);
    expect((await put('ONE_MORE', { value: 'a', secret: false })).status).toBe(400);
  });

  test('a form is taken, too, and what was set at the same moment is all there', async () => {
    await fresh();
    const names = Array.from({ length: 5 }, (_, n) => `V${n}`);
    const answers = await Promise.all(
      names.map((name) =>
        service.call(putVariable, {
          ...form({ value: 'a b', secret: 'false' }),
          path: { project_id, name },
          as: owner,
        }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(names.map(() => 200));
    expect((await list()).json.map(({ name }: { name: string }) => name)).toEqual(names);
  });

  test('they go with their project', async () => {
    await fresh();
    await put('HF_TOKEN', { value: token });
    const path = { project_id };
    expect((await service.call(deleteProject, { path, as: owner })).status).toBe(200);
    expect((await list()).status).toBe(404);
    expect((await put('HF_TOKEN', { value: token })).status).toBe(404);
    const { items } = await service.records.query({ pk: 'PURGES' });
    expect(JSON.stringify(items)).toContain(variablesPartition(project_id));
  });
});
