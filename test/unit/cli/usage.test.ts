import { once } from 'node:events';
import { mkdir, mkdtemp, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { errorText, exitCodeOf } from '../../../cli/cli-error.ts';
import { ProblemError } from '../../../shared/client/problem-error.ts';
import { UnreachableError } from '../../../shared/client/unreachable-error.ts';
import { type Ended, runMps } from '../../support/mps.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mps-usage-'));
  await mkdir(join(folder, 'linked'));
  await writeFile(join(folder, 'linked/train.py'), '');
  await symlink('missing', join(folder, 'linked/broken'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Runs a command line in this process, at a service that nobody is to ask. */
async function ran(
  args: readonly string[],
  { url = 'http://127.0.0.1:1', where = folder } = {},
): Promise<Ended> {
  return runMps(args, { folder: where, home: folder, environment: { MPS_URL: url, MPS_TOKEN: 'a.b' } });
}

describe('a command line that cannot be', () => {
  test.each([
    { args: ['show', 'no id'], fault: 'is not an experiment ID' },
    { args: ['compare', 'latest'], fault: 'at least two experiments' },
    { args: ['ls', '-n', '0'], fault: 'whole number' },
    { args: ['cancel'], fault: 'ID' },
    { args: ['run', '--nodes', 'many'], fault: 'must be a number' },
    { args: ['run', '-S', 'nothing'], fault: 'NAME=VALUE' },
    { args: ['run', '--speed'], fault: 'No flag registered for --speed' },
    { args: ['run', '--speed', '3'], fault: 'mps run -- python train.py --speed …' },
    { args: ['run', '-S', 'nothing'], fault: '--set "nothing": must be NAME=VALUE' },
    { args: ['run', '--stop-if', 'nothing'], fault: '--stop-if "nothing": ' },
    { args: ['users', 'add', 'ada', '--speed'], fault: 'See "mps users --help".' },
    { args: ['sweep', '-S', 'lr=1..'], fault: 'a range has two numbers, such as 1e-4..1e-1:log' },
    { args: ['run', '-c', 'a.yaml', '-c', 'b.yaml'], fault: 'config' },
    { args: ['cancle'], fault: 'did you mean `cancel`' },
    { args: ['login', 'http://example.com'], fault: 'clear text' },
    { args: ['login', 'nowhere'], fault: 'not a service URL' },
    { args: ['login', 'https://ada:secret@example.com'], fault: 'must not contain a user name or password' },
    { args: ['rerun', '4k8f', '-S', 'a={b: 1}'], fault: 'single values' },
    { args: ['data', 'push', 'a', 'missing'], fault: 'no file or folder' },
    { args: ['data', 'push', 'a', '.', '--as-file'], fault: 'is a folder' },
    { args: ['models', 'push', 'a', 'missing.onnx'], fault: 'There is no file' },
    { args: ['models', 'push', 'a', 'b', '--from', 'latest', '--data', 'c'], fault: 'external data' },
    { args: ['prune', 'a'], fault: 'strategy' },
    { args: ['prune', 'a', '-s', 'structured_l2'], fault: 'compression 1 keeps all weights' },
    { args: ['users', 'type', 'ada', 'king'], fault: 'guest, viewer, developer, admin' },
    { args: ['tokens', 'create', 'ci', '--days', '1000'], fault: 'from 1 to 365' },
    { args: ['tokens', 'create', 'ci', '--expires', '8'], fault: 'from 1m to 365d' },
    { args: ['tokens', 'create', 'ci', '--expires', '8h', '--days', '1'], fault: 'contradict each other' },
    { args: ['tokens', 'create', 'ci', '--project', 'digits'], fault: '--rights read' },
    { args: ['tokens', 'create', 'ci', '--rights', 'all'], fault: 'read' },
    { args: ['data', 'push', 'a', 'linked'], fault: 'broken: a link to nothing' },
    { args: ['completion', 'csh'], fault: 'bash, zsh, fish' },
    { args: ['quantize', 'a', '-s', 'dynamic', '-d', '--to', 'b'], fault: '--detach and --to' },
    { args: ['prune', 'a', '-s', 'random_sparse', '-d', '--to', 'b'], fault: '--detach and --to' },
    { args: ['config', 'graph', 'a.yaml', '--json', '--form', 'svg'], fault: '--json and --form' },
    {
      args: ['config', 'push', 'linked/a.yaml', 'other/a.yaml'],
      fault: 'linked/a.yaml and other/a.yaml would both be a.yaml',
    },
  ])(
    '$args is told with what is allowed, without a stack, before anything is sent',
    async ({ args, fault }) => {
      const { code, stdout, stderr } = await ran(args);
      expect(stderr).toContain(fault);
      expect(stderr).not.toMatch(/^ +at /m);
      expect(stdout).toBe('');
      expect(code).toBe(2);
    },
  );

  test('every command has examples in its help', async () => {
    const { stdout } = await ran(['--help']);
    const listed = stdout.slice(stdout.indexOf('COMMANDS')).matchAll(/^ {2}([a-z]+) {2,}/gm);
    const names = [...listed].map(([, name]) => name ?? '');
    expect(names.length).toBeGreaterThan(20);
    const maps = new Set(['data', 'config', 'env', 'hooks', 'members', 'models', 'users', 'tokens', 'ci']);
    for (const name of names) {
      const help = await ran([name, '--help']);
      expect(help.stdout, name).toMatch(maps.has(name) ? /COMMANDS/ : /Examples?:\n {2}\S/);
    }
  });
});

/** A server that answers every path alike. */
async function answering(status: number, body: string): Promise<string> {
  const server = createServer((_, response) =>
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(body),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('what stands in the way', () => {
  test.each([
    { status: 404, body: 'not here' },
    { status: 200, body: '<html>' },
    { status: 200, body: '{"status":"ok"}' },
  ])(
    'of a login, $status $body at the address, is told before a password is read',
    async ({ status, body }) => {
      const url = await answering(status, body);
      const { code, stderr } = await ran(['login', url, '--user', 'ada']);
      expect([code, stderr]).toEqual([
        1,
        expect.stringMatching(/is not a Model Project Service|returned no JSON/),
      ]);
      expect(stderr).toContain('Check the address');
    },
  );

  test.each([
    { status: 404, body: 'not here' },
    { status: 404, body: '{"error":"no route"}' },
    { status: 200, body: '<html>' },
    { status: 301, body: '' },
  ])('of any command, $status $body at the address, is told with what to check', async ({ status, body }) => {
    const url = await answering(status, body);
    for (const args of [['ls'], ['whoami'], ['run', '--', 'true']]) {
      const where = join(folder, 'linked');
      const { code, stderr } = await ran(args, { url, where });
      expect([args, code, stderr]).toEqual([args, 1, expect.stringContaining('Check the address')]);
    }
  });

  test('of a name that several projects have is told with their ids', async () => {
    const project = (project_id: string) => ({
      project_id,
      project_name: 'digits',
      owner: 'ada',
      owner_id: 'x',
    });
    const url = await answering(200, JSON.stringify([project('first'), project('second')]));
    const { code, stderr } = await ran(['ls', '-p', 'digits'], { url });
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /Several projects are called "digits":\n {2}first of ada\n {2}second of ada\n.*--project/,
    );
  });

  test('of a folder with 3 GB is told, with how to leave them out', async () => {
    const where = join(folder, 'large');
    await mkdir(where);
    await writeFile(join(where, 'train.py'), '');
    await writeFile(join(where, 'data.bin'), '');
    await truncate(join(where, 'data.bin'), 3e9);
    const { code, stderr } = await ran(['run'], { where });
    expect([code, stderr]).toEqual([1, expect.stringMatching(/\.mpsignore.*--yes/)]);
  });

  test('of an empty folder is told', async () => {
    const where = join(folder, 'empty');
    await mkdir(where);
    const { code, stderr } = await ran(['run'], { where });
    expect([code, stderr]).toEqual([2, expect.stringContaining('has no files')]);
  });
});

test.each([
  [['run', '--help'], 'mps run [-- COMMAND...]'],
  [['compare', '--help'], 'mps compare [ID ID...]'],
  [['cancel', '--help'], 'mps cancel (ID... | --all)'],
  [['--help'], 'mps rerun [ID] [-- COMMAND...]'],
])('%j says which words may be left out', async (args, usage) => {
  const { stdout } = await ran(args);
  expect(stdout.split('\n')).toContain(`  ${usage}`);
});

describe('an error', () => {
  const problem = (status: number, detail = 'No.') => new ProblemError(status, { detail }, '');
  test.each([
    { error: problem(401), text: 'mps login', code: 4 },
    { error: problem(403), text: 'mps whoami', code: 1 },
    { error: problem(404, 'There is no model digits.'), text: 'mps models push', code: 1 },
    { error: problem(404, 'There is no data set digits.'), text: 'mps data push', code: 1 },
    {
      error: problem(400, 'value is shorter than 8 characters, too short to be masked in logs.'),
      text: 'mps env set --plain',
      code: 1,
    },
    { error: problem(400, 'url is required for a new hook'), text: 'mps hooks set NAME < url-file', code: 1 },
    { error: problem(429), text: 'Try again in a minute', code: 1 },
    { error: Object.assign(new Error('write'), { code: 'ENOSPC' }), text: 'Free some space', code: 1 },
    { error: Object.assign(new Error('write'), { code: 'EDQUOT' }), text: 'Free some space', code: 1 },
    { error: new UnreachableError('http://a', new Error('gone')), text: 'npm start', code: 3 },
    { error: new Error('a defect'), text: '--verbose shows more', code: 1 },
  ])('such as $error says what to do next', ({ error, text, code }) => {
    expect(errorText(error, false)).toContain(text);
    expect(errorText(error, false)).not.toMatch(/^ +at /m);
    expect(exitCodeOf(error)).toBe(code);
  });
});

test('the help of sweep lists the options of a new one and the commands', async () => {
  const { stdout } = await ran(['sweep', '--help']);

  for (const part of ['-S NAME=RANGE', '--trials N', '--parallel N', '--budget N', 'extend'])
    expect(stdout).toContain(part);
});
