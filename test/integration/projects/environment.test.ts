import { beforeAll, describe, expect, test } from 'vitest';
import { endpoint as putEnvironment } from '../../../functions/projects/environment/put-environment.endpoint.ts';
import { endpoint as readEnvironment } from '../../../functions/projects/environment/read-environment.endpoint.ts';
import {
  findEnvironment,
  putEnvironment as putEnvironmentRecord,
  recordLock,
} from '../../../shared/data/projects/environment.ts';
import { projectExists } from '../../../shared/data/projects/project.ts';
import { type TestService, type TestUser, testService } from '../../support/service.ts';
import { newProject } from './new-project.ts';

const good = {
  entry_point_command: 'python train.py --config {config}',
  env_type: 'python',
  dependencies: 'numpy>=2,<3',
};
const lock = 'b'.repeat(64);

// One story: each test goes on from the one before it.
describe('environment', { shuffle: false }, () => {
  let service: TestService;
  let owner: TestUser;
  let path: { project_id: string };

  beforeAll(async () => {
    service = await testService();
    owner = await service.user('developer');
    path = { project_id: await newProject(service, owner) };
  });

  const put = (query: string | Record<string, string>, headers: Record<string, string> = {}) =>
    service.call(putEnvironment, { path, query, headers, as: owner });
  const read = (headers: Record<string, string> = {}) =>
    service.call(readEnvironment, { path, headers, as: owner });
  async function resolve(): Promise<void> {
    const { version } = (await findEnvironment(service.records, path.project_id))!;
    const { project_id } = path;
    const proof = projectExists(project_id);
    await recordLock(service.records, { project_id, version, lock_hash: lock }, proof);
  }

  test('is 404 before the first PUT, and If-Match cannot be met', async () => {
    expect((await read()).status).toBe(404);
    expect((await put(good, { 'If-Match': '*' })).status).toBe(412);
    expect((await read()).status).toBe(404);
  });

  test('is stored and answered', async () => {
    const stored = await put(good);
    expect(stored.status).toBe(200);
    expect(stored.json).toEqual({ ...good, lock_hash: null, version: 1, updated_at: expect.any(String) });
    const found = await read();
    expect(found.json).toEqual(stored.json);
    expect(found.headers['etag']).toBe(stored.headers['etag']);
    expect((await read({ 'If-None-Match': found.headers['etag']! })).status).toBe(304);
  });

  test('keeps its lock while type and dependencies stay', async () => {
    await resolve();
    const resolved = await read();
    expect(resolved.json.lock_hash).toBe(lock);
    const again = await put(good);
    expect(again.headers['etag']).toBe(resolved.headers['etag']);
    const command = await put({ ...good, entry_point_command: 'python -m train' });
    expect(command.json).toMatchObject({ entry_point_command: 'python -m train', lock_hash: lock });
    expect(command.headers['etag']).toMatch(/^"2-/);
    expect((await put({ ...good, dependencies: 'numpy' })).json.lock_hash).toBeNull();
    await resolve();
    expect((await put({ ...good, env_type: 'node', dependencies: 'numpy' })).json.lock_hash).toBeNull();
  });

  test.each([
    ['python', '', ''],
    ['python', 'none', 'none'],
    ['node', '-', '-'],
    ['system', ' ', ' '],
    [
      'python',
      '-r requirements.txt\nscikit-learn==1.5.*, numpy # fast',
      '-r requirements.txt\nscikit-learn==1.5.*, numpy # fast',
    ],
    [
      'python',
      '--index-url https://download.pytorch.org/whl/cpu\n--extra-index-url https://pypi.org/simple\n--pre\ntorch',
      '--index-url https://download.pytorch.org/whl/cpu\n--extra-index-url https://pypi.org/simple\n--pre\ntorch',
    ],
    ['docker', 'registry.example/team/image:1.2', 'registry.example/team/image:1.2'],
  ])('%s takes %j', async (env_type, dependencies, kept) => {
    const { status, json } = await put({ ...good, env_type, dependencies });
    expect(status).toBe(200);
    expect(json).toMatchObject({ env_type, dependencies: kept });
  });

  test.each([
    ['an unknown type', { env_type: 'ruby' }, 'env_type', 'must be one of python, node, system, docker'],
    ['a type of other case', { env_type: 'Python' }, 'env_type', 'must be one of'],
    ['a blank type', { env_type: '' }, 'env_type', 'must be one of'],
    ['a blank command', { entry_point_command: ' ' }, 'entry_point_command', 'blank'],
    ['a pipe', { entry_point_command: 'cat x | sh' }, 'entry_point_command', 'a pipe'],
    ['an open quote', { entry_point_command: 'python "x' }, 'entry_point_command', 'is not closed'],
    [
      'a variable without a shell',
      { entry_point_command: 'python train.py $DATA_DIR' },
      'entry_point_command',
      "write {data_dir}, or write bash -c '… $DATA_DIR …'",
    ],
    ['a long command', { entry_point_command: 'x'.repeat(4001) }, 'entry_point_command', 'longer than 4000'],
    ['a NUL', { entry_point_command: 'a\0b' }, 'entry_point_command', 'control character'],
    [
      'an index of its own',
      { dependencies: 'numpy\n--index-url https://evil.example' },
      'dependencies',
      'line 2: evil.example is not an allowed package index of this deployment; allowed are pypi.org, test.pypi.org',
    ],
    [
      'a password for an index',
      { dependencies: '--extra-index-url https://ada:hidden@pypi.org/simple' },
      'dependencies',
      'secret variable of the project',
    ],
    [
      'two indexes',
      { dependencies: '-i https://pypi.org/simple\n-i https://test.pypi.org/simple' },
      'dependencies',
      'line 2: more than one --index-url',
    ],
    ['a link to a file', { dependencies: 'x @ file:///etc/passwd' }, 'dependencies', 'line 1:'],
    ['long dependencies', { dependencies: 'x'.repeat(4001) }, 'dependencies', 'longer than 4000'],
    ['an escape sequence', { dependencies: '# \u001b[2J' }, 'dependencies', 'control character'],
    ['system with packages', { env_type: 'system' }, 'dependencies', 'installs nothing'],
    [
      'docker without an image',
      { env_type: 'docker', dependencies: '-' },
      'dependencies',
      'requires the name of an image',
    ],
    [
      'docker with two images',
      { env_type: 'docker', dependencies: 'a b' },
      'dependencies',
      'must be one image',
    ],
  ])('refuses %s', async (_, change, name, message) => {
    const before = await read();
    const answer = await put({ ...good, ...change });
    expect(answer.status).toBe(400);
    expect(answer.json.errors).toEqual([{ in: 'query', name, message: expect.stringContaining(message) }]);
    expect((await read()).json).toEqual(before.json);
  });

  test.each([
    'python train.py {config} {data_dir} {checkpoint_dir} {metrics_file} {output_dir}',
    'torchrun --nnodes={num_nodes} --node-rank={node_rank} --master-addr={master_addr} --master-port={master_port} a',
    'bash -c "python train.py --data $DATA_DIR"',
    `train --set '{"lr": {"a":1}}' '{{lr}}' '$LR'`,
  ])('takes the command %s', async (entry_point_command) => {
    const { status, json } = await put({ ...good, entry_point_command });
    expect(status).toBe(200);
    expect(json).toMatchObject({ entry_point_command });
  });

  test('a command that an earlier release accepted can be read, and is refused by the next PUT', async () => {
    await put(good);
    const stored = (await findEnvironment(service.records, path.project_id))!;
    const earlier = { ...stored, entry_point_command: 'python train.py $LR' };
    await putEnvironmentRecord(service.records, earlier, stored);
    expect((await read()).json.entry_point_command).toBe('python train.py $LR');
    const { status, json } = await put({ ...good, entry_point_command: 'python train.py $LR' });
    expect(status).toBe(400);
    expect(json.errors).toEqual([expect.objectContaining({ name: 'entry_point_command' })]);
  });

  test('names a fault of the command, an unknown type and bad dependencies together', async () => {
    const open = { entry_point_command: 'a "' };
    const long = await put({ ...open, env_type: 'zz', dependencies: 'x'.repeat(4001) });
    const names = ({ json }: typeof long) => json.errors.map(({ name }: { name: string }) => name).sort();
    expect(names(long)).toEqual(['dependencies', 'entry_point_command', 'env_type']);
  });

  test('names all faults at once', async () => {
    const missing = await put('');
    expect(missing.json.errors).toEqual(
      ['entry_point_command', 'env_type', 'dependencies'].map((name) => ({
        in: 'query',
        name,
        message: expect.any(String),
      })),
    );
    const bad = await put({
      entry_point_command: 'a; b',
      env_type: 'python',
      dependencies: '!!\nnumpy\n--no-index',
    });
    expect(bad.json.errors.map((fault: { name: string }) => fault.name)).toEqual([
      'entry_point_command',
      'dependencies',
    ]);
    expect(bad.json.detail).toMatch(/line 1: .*; line 3: /);
  });

  test('honours If-Match, and changes at the same moment are versions each', async () => {
    const tag = (await put(good)).headers['etag']!;
    const version = Number(/^"(\d+)-/.exec(tag)?.[1]);
    expect((await put({ ...good, dependencies: 'a' }, { 'If-Match': tag })).status).toBe(200);
    expect((await put({ ...good, dependencies: 'b' }, { 'If-Match': tag })).status).toBe(412);
    const answers = await Promise.all(['c', 'd', 'e'].map((dependencies) => put({ ...good, dependencies })));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect((await read()).headers['etag']).toMatch(new RegExp(`^"${version + 4}-`));
  });
});
