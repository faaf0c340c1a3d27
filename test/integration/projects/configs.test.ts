import { createHash } from 'node:crypto';
import { ulid } from 'ulid';
import { beforeAll, describe, expect, test } from 'vitest';
import { endpoint as deleteConfig } from '../../../functions/projects/configs/delete-config.endpoint.ts';
import { endpoint as listConfigs } from '../../../functions/projects/configs/list-configs.endpoint.ts';
import { endpoint as putConfig } from '../../../functions/projects/configs/put-config.endpoint.ts';
import { endpoint as readConfig } from '../../../functions/projects/configs/read-config.endpoint.ts';
import { endpoint as readProject } from '../../../functions/projects/projects/read-project.endpoint.ts';
import { configMaxBytes, configPartitions } from '../../../shared/data/projects/config.ts';
import { listPurges } from '../../../shared/data/projects/purge.ts';
import { runPurge } from '../../../shared/purge/run-purge.ts';
import { type Call, type TestService, type TestUser, testService } from '../../support/service.ts';
import { newProject } from './new-project.ts';

const sha256 = (text: string | Uint8Array) => createHash('sha256').update(text).digest('hex');

// One story: each test goes on from the one before it.
describe('configurations', { shuffle: false }, () => {
  let service: TestService;
  let owner: TestUser;
  let project_id: string;

  beforeAll(async () => {
    service = await testService();
    owner = await service.user('developer');
    project_id = await newProject(service, owner);
  });

  const at = (config_id: string, call: Call = {}): Call => ({
    path: { project_id, config_id },
    as: owner,
    ...call,
  });
  const put = (config_id: string, body: string | Uint8Array, headers: Record<string, string> = {}) =>
    service.call(putConfig, at(config_id, { body, headers }));
  const read = (config_id: string, headers: Record<string, string> = {}) =>
    service.call(readConfig, at(config_id, { headers }));
  const remove = (config_id: string, headers: Record<string, string> = {}) =>
    service.call(deleteConfig, at(config_id, { headers }));
  const contents = async () =>
    (await service.records.query({ pk: configPartitions(project_id)[1]! })).items.map(({ sk }) => sk);

  test('are stored in versions, listed by name and answered whole', async () => {
    const text = '# größe\nmodel: {layers: 3}\nrate: 0.1\n';
    const first = await put('train.yaml', text);
    expect(first.status).toBe(200);
    expect(first.json).toEqual({
      config_id: 'train.yaml',
      format: 'yaml',
      size: Buffer.byteLength(text),
      sha256: sha256(text),
      version: 1,
      created_at: expect.any(String),
      updated_at: first.json.created_at,
    });
    await put('b.json', '{"a": [1, null, "x"]}');
    await put('A.toml', 'a = 1\n');
    const second = await put('train.yaml', `${text}more: true\n`);
    expect(second.json).toMatchObject({ version: 2, created_at: first.json.created_at });
    const listed = await service.call(listConfigs, { path: { project_id }, as: owner });
    expect(listed.json.map((one: { config_id: string }) => one.config_id)).toEqual([
      'A.toml',
      'b.json',
      'train.yaml',
    ]);
    expect(listed.json[2]).toEqual(second.json);
    expect((await read('train.yaml')).json).toEqual({
      ...second.json,
      content: `${text}more: true\n`,
      data: { model: { layers: 3 }, rate: 0.1, more: true },
    });
    expect((await read('b.json')).json.data).toEqual({ a: [1, null, 'x'] });
    expect((await service.call(readProject, { path: { project_id }, as: owner })).json.configs).toBe(3);
  });

  test('are listed in pages', async () => {
    const listed: string[] = [];
    let query = 'limit=2';
    for (;;) {
      const page = await service.call(listConfigs, { path: { project_id }, query, as: owner });
      listed.push(...page.json.map((one: { config_id: string }) => one.config_id));
      const next = /^<\?(.*)>; rel="next"$/.exec(page.headers['link'] ?? '')?.[1];
      if (next === undefined) break;
      query = next;
    }
    expect(listed).toEqual(['A.toml', 'b.json', 'train.yaml']);
  });

  test('the same bytes once more change nothing', async () => {
    const before = await read('b.json');
    const again = await put('b.json', before.json.content);
    expect(again.status).toBe(200);
    expect(again.json).toMatchObject({ version: 1, updated_at: before.json.updated_at });
    expect((await read('b.json', { 'If-None-Match': before.headers['etag']! })).status).toBe(304);
  });

  test('keep their bytes, whatever they hold', async () => {
    const text =
      '\ufeff{"__proto__": {"a": 1}, "constructor": 2, "big": 12345678901234567890, "\\u0000": "\\ud83d\\ude00"}\r\n';
    const stored = await put('odd.json', text);
    expect(stored.json.sha256).toBe(sha256(text));
    const { json, text: body } = await read('odd.json');
    expect(sha256(json.content)).toBe(sha256(text));
    expect(Object.keys(json.data)).toEqual(['__proto__', 'constructor', 'big', '\u0000']);
    expect(json.data.big).toBe('12345678901234567890');
    expect(body).toContain('"__proto__":{"a":1}');
    await remove('odd.json');
  });

  test.each([
    ['nothing', 'train.yaml', '', 'body', 'is empty'],
    ['bytes that are no text', 'train.yaml', Buffer.of(0x61, 0x3a, 0xff), 'body', 'is not valid UTF-8'],
    ['YAML that does not parse', 'train.yaml', 'a: 1\nb: [1, 2\nc: 3\n', 'body', 'line 3, column 1'],
    ['a repeated key', 'train.yaml', 'a: 1\na: 2\n', 'body', 'line 2, column 1'],
    ['JSON that does not parse', 'x.json', '{\n  "a": 1,\n}', 'body', 'line 3, column 1'],
    ['TOML that does not parse', 'x.toml', 'a = 1\nb = \n', 'body', 'line 2, column 5'],
    ['half a character in YAML', 'x.yaml', 'a: {b: ["\\ud800"]}\n', 'body', 'half a character'],
    ['half a character in JSON', 'x.json', '{"a": {"\\udfff": 1}}', 'body', 'half a character'],
    ['half a character in TOML', 'x.toml', 'a = "\\ud800"\n', 'body', 'line 1, column 6'],
    ['a single value', 'x.json', '3', 'body', 'must be a mapping or a list'],
    ['blank text', 'x.yaml', ' \n', 'body', 'the file is empty'],
    ['a bomb of aliases', 'x.yaml', bomb(), 'body', 'aliases'],
    ['a name of no known format', 'train.py', 'a: 1', 'config_id', 'must end in .yaml, .yml, .json or .toml'],
    ['a name without an extension', 'yaml', 'a: 1', 'config_id', 'must end in .yaml'],
    ['a name that climbs', '../x.yaml', 'a: 1', 'config_id', 'must start with a letter or digit'],
    ['a hidden name', '.yaml', 'a: 1', 'config_id', 'must start with a letter or digit'],
    ['a long name', `${'n'.repeat(124)}.yaml`, 'a: 1', 'config_id', 'at most 128'],
  ])('refuse %s', async (_, config_id, body, name, message) => {
    const answer = await put(config_id, body);
    expect(answer.status).toBe(400);
    const place = name === 'body' ? 'body' : 'path';
    expect(answer.json.errors).toEqual([{ in: place, name, message: expect.stringContaining(message) }]);
  });

  test('take 256 KiB and refuse more', async () => {
    const whole = `# ${'x'.repeat(configMaxBytes - 8)}\na: 1\n`;
    expect((await put('large.yaml', whole)).json).toMatchObject({ size: configMaxBytes });
    expect((await read('large.yaml')).json.content).toBe(whole);
    const more = await put('large.yaml', `${whole}\n`);
    expect(more.status).toBe(413);
    expect(more.json.detail).toContain('262145 bytes');
    await remove('large.yaml');
  });

  test('honour If-Match and If-None-Match', async () => {
    const before = (await read('train.yaml')).headers['etag']!;
    const changed = await put('train.yaml', 'rate: 1', { 'If-Match': before });
    expect(changed.status).toBe(200);
    expect((await put('train.yaml', 'rate: 2', { 'If-Match': before })).status).toBe(412);
    expect((await remove('train.yaml', { 'If-Match': before })).status).toBe(412);
    expect((await put('train.yaml', 'rate: 2', { 'If-None-Match': '*' })).status).toBe(412);
    expect((await put('absent.yaml', 'rate: 2', { 'If-Match': '*' })).status).toBe(412);
    expect((await put('absent.yaml', 'rate: 2', { 'If-Match': before })).status).toBe(412);
    expect((await read('train.yaml')).json.data).toEqual({ rate: 1 });
    expect((await put('fresh.yaml', 'rate: 2', { 'If-None-Match': '*' })).status).toBe(200);
    await remove('fresh.yaml');
  });

  test('stored at the same moment become a version each', async () => {
    const before = (await put('rivals.yaml', 'n: 0')).json.version;
    const answers = await Promise.all([1, 2, 3, 4, 5].map((n) => put('rivals.yaml', `n: ${n}`)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    const versions = answers.map(({ json }) => json.version).sort((one, other) => one - other);
    expect(versions).toEqual([1, 2, 3, 4, 5].map((n) => before + n));
    const winner = answers.find(({ json }) => json.version === before + 5)!;
    expect((await read('rivals.yaml')).json.sha256).toBe(winner.json.sha256);
  });

  test('are deleted with all versions, and nothing else is', async () => {
    const before = await contents();
    await put('rivals', 'never');
    const neighbour = await put('rivals.yaml2.yaml', 'a: 1');
    expect(neighbour.status).toBe(200);
    const deleted = await remove('rivals.yaml');
    expect(deleted.status).toBe(200);
    expect(deleted.json).toEqual({ config_id: 'rivals.yaml', deleted: { versions: 6 } });
    const left = await contents();
    expect(left.filter((key) => key.startsWith('rivals.yaml#'))).toEqual([]);
    expect(left).toHaveLength(before.length - 6 + 1);
    expect((await listPurges(service.records, undefined)).items).toEqual([]);
    expect((await read('rivals.yaml')).status).toBe(404);
    expect((await remove('rivals.yaml')).status).toBe(404);
    expect((await put('rivals.yaml', 'n: 9')).json.version).toBe(7);
    expect((await service.call(readProject, { path: { project_id }, as: owner })).json.configs).toBe(5);
  });

  test('no version of a name is given twice, so that what was deleted is never taken for what came after', async () => {
    const first = await put('reuse.yaml', 'a: 1');
    const stale = { 'If-Match': first.headers['etag']! };
    await remove('reuse.yaml');
    expect((await put('reuse.yaml', 'a: 2', stale)).status).toBe(412);
    const second = await put('reuse.yaml', 'a: 2');
    expect(second.json.version).toBe(2);
    expect((await put('reuse.yaml', 'a: 3', stale)).status).toBe(412);
    expect((await remove('reuse.yaml', stale)).status).toBe(412);
    expect((await put('reuse.yaml', 'a: 3')).json.version).toBe(3);
    expect((await remove('reuse.yaml')).json.deleted).toEqual({ versions: 2 });
    const rivals = await Promise.all(['b: 1', 'b: 2', 'b: 3'].map((text) => put('reuse.yaml', text)));
    expect(rivals.map(({ json }) => json.version).sort()).toEqual([4, 5, 6]);
    await remove('reuse.yaml');
  });

  test('a delete has succeeded once it is on record; what a failure leaves is removed later', async () => {
    await put('late.yaml', 'a: 1');
    const failing = { ...service.records, query: () => Promise.reject(new Error('out of order')) };
    const warnings: string[] = [];
    const context = {
      records: failing,
      project: { project_id },
      newId: () => ulid().toLowerCase(),
      now: () => new Date(),
      header: () => undefined,
      log: { warn: (code: string) => warnings.push(code) },
    };
    const path = { project_id, config_id: 'late.yaml' };
    const answer = await deleteConfig.handle(
      { path, query: {}, queryOrBody: {}, body: undefined },
      context as never,
    );
    expect(answer).toEqual({ config_id: 'late.yaml', deleted: { versions: 1 } });
    expect(warnings).toEqual(['purge-later']);
    expect((await read('late.yaml')).status).toBe(404);
    const { items } = await listPurges(service.records, undefined);
    expect(items).toHaveLength(1);
    expect((await contents()).some((key) => key.startsWith('late.yaml#'))).toBe(true);
    for (const purge of items) await runPurge(service.records, undefined, purge, () => true);
    expect((await contents()).some((key) => key.startsWith('late.yaml#'))).toBe(false);
    expect((await listPurges(service.records, undefined)).items).toEqual([]);
  });

  test('an unknown one is 404', async () => {
    const answer = await read('nowhere.yaml');
    expect(answer.status).toBe(404);
    expect(answer.json.detail).toBe('There is no config nowhere.yaml.');
  });
});

function bomb(): string {
  const levels = 'abcdefghijkl'.split('').map((name, index, names) => {
    const items = Array.from({ length: 9 }, () => (index === 0 ? '"lol"' : `*${names[index - 1]}`));
    return `${name}: &${name} [${items.join(', ')}]`;
  });
  return `${levels.join('\n')}\n`;
}
