import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runMps } from '../../support/mps.ts';
import { json, type Received, served, type Turn } from '../client/served.ts';
import { sha256 } from '../projects/upload-file.ts';

const project_id = '01m81vnz70vmqzhdpxra5dgmp0';
const newest = '01m81vnz70vmqzhdpxra5dgmp3';
const older = '01m81vnz70vmqzhdpxra5dgmp2';

let folder: string;
let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'mps-clashes-home-'));
  folder = await mkdtemp(join(tmpdir(), 'mps-clashes-'));
});
afterEach(() => Promise.all([folder, home].map((path) => rm(path, { recursive: true, force: true }))));

const content = 'a trained model\n';
const artifact = (path: string) => ({ path, size: content.length, sha256: sha256(Buffer.from(content)) });
const project = { project_id, project_name: 'p', owner: 'ada', owner_id: 'a' };
const experiment = (experiment_id: string) => ({ experiment_id, project_id, name: 'a', artifacts: 1 });

/** A service with one project, whose newest experiment left these files. */
const serving = (paths: readonly string[]): Turn => {
  let there = [newest, older];
  return (response, request) => {
    const { method, url } = request;
    const [, of] = /experiments\/([0-9a-z]{26})/.exec(url) ?? [];
    if (url.includes('/artifacts/')) response.writeHead(200).end(content);
    else if (url.includes('/artifacts?')) json(paths.map(artifact))(response, request);
    else if (method === 'DELETE') {
      there = there.filter((id) => id !== of);
      json({ deleted: { bytes: 0 } })(response, request);
    } else if (of !== undefined) {
      const found = there.includes(of) ? json(experiment(of)) : json({ detail: 'No such experiment.' }, 404);
      found(response, request);
    } else if (url.includes('/experiments')) json(there.map(experiment))(response, request);
    else json(method === 'GET' ? [project] : {})(response, request);
  };
};

const asked = (received: readonly Received[], method: string) =>
  received.filter((one) => one.method === method).map(({ url }) => url);

async function mps(url: string, ...args: readonly string[]) {
  return runMps([...args, '-p', 'p'], {
    folder,
    home,
    environment: { MPS_URL: url, MPS_TOKEN: 'a.b' },
  });
}

describe('mps pull', () => {
  test.each([
    {
      what: 'a file in the place of a folder',
      paths: ['a.txt', 'model/weights.bin'],
      there: { model: 'my own\n' },
      fault: 'out/model is not a folder',
    },
    {
      what: 'a folder in the place of a file',
      paths: ['a.txt', 'model'],
      there: { 'model/weights.bin': 'my own\n' },
      fault: 'out/model is a folder',
    },
    {
      what: 'a file and a folder of the same name',
      paths: ['a.txt', 'model', 'model/weights.bin'],
      there: {},
      fault: 'out/model would be both',
    },
  ])('tells of $what before it downloads anything', async ({ paths, there, fault }) => {
    const { url, received } = await served(serving(paths));
    for (const [path, text] of Object.entries(there)) {
      const file = join(folder, 'out', path);
      await mkdir(join(file, '..'), { recursive: true });
      await writeFile(file, text);
    }
    const saved = () => readdir(join(folder, 'out'), { recursive: true }).catch(() => []);
    const before = await saved();
    const { code, stderr } = await mps(url, 'pull', '--to', 'out');
    expect([code, stderr]).toEqual([2, expect.stringContaining(fault)]);
    expect(stderr).toContain('--to');
    expect(await saved()).toEqual(before);
    expect(received.filter((one) => one.url.includes('/artifacts/'))).toEqual([]);
  });

  test('leaves files that have another content, and replaces them by --force', async () => {
    const { url, received } = await served(serving(['a.txt', 'b.txt', 'c.txt']));
    await mkdir(join(folder, 'out'));
    await writeFile(join(folder, 'out/a.txt'), content);
    await writeFile(join(folder, 'out/b.txt'), 'my own\n');
    const refused = await mps(url, 'pull', '--to', 'out');
    expect([refused.code, refused.stderr]).toEqual([
      2,
      expect.stringMatching(/out\/b\.txt exists already; nothing was downloaded\. .*--to.*--force/),
    ]);
    expect(received.filter((one) => one.url.includes('/artifacts/'))).toEqual([]);
    expect(await readFile(join(folder, 'out/b.txt'), 'utf8')).toBe('my own\n');
    const forced = await mps(url, 'pull', '--to', 'out', '--force');
    expect(forced, forced.stderr).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('already there'),
    });
    expect(await readFile(join(folder, 'out/b.txt'), 'utf8')).toBe(content);
    expect(received.filter((one) => one.url.includes('/artifacts/'))).toHaveLength(2);
  });

  test('of one of them fetches it', async () => {
    const { url } = await served(serving(['a.txt', 'model', 'model/weights.bin']));
    expect(await mps(url, 'pull', 'latest', 'model/weights.bin', '--to', 'out')).toMatchObject({ code: 0 });
    expect(await readFile(join(folder, 'out/model/weights.bin'), 'utf8')).toBe(content);
  });
});

test.each([
  { what: 'config pull', args: ['config', 'pull', 'train.yaml', '--to', 'mine'], undone: 'saved' },
  { what: 'config graph', args: ['config', 'graph', 'train.yaml', '--to', 'mine'], undone: 'saved' },
  { what: 'export', args: ['export', '--to', 'mine'], undone: 'exported' },
])('mps $what replaces a file by --force alone', async ({ args, undone }) => {
  const { url, received } = await served((response, request) => {
    const { pathname } = new URL(request.url, 'http://a');
    if (pathname.endsWith('/projects/')) return json([project])(response, request);
    if (pathname.endsWith('/file')) return void response.writeHead(200).end('theirs');
    const state = { status: 'SUCCEEDED', bytes: 6, files: 1, secrets: [], left_out: 0, members: 0 };
    if (pathname.endsWith('/export')) return json(state)(response, request);
    if (pathname.endsWith('/graph')) return void response.writeHead(200).end('theirs');
    return json({ content: 'theirs' })(response, request);
  });
  await writeFile(join(folder, 'mine'), 'mine');
  expect(await mps(url, ...args)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(`mine exists already; nothing was ${undone}.`),
  });
  expect(received.filter(({ method }) => method === 'POST')).toEqual([]);
  expect(await readFile(join(folder, 'mine'), 'utf8')).toBe('mine');
  expect(await mps(url, ...args, '--force')).toMatchObject({ code: 0 });
  expect(await readFile(join(folder, 'mine'), 'utf8')).toMatch(/^theirs/);
});

describe('mps rm', () => {
  test('of the same experiment by two names deletes it once', async () => {
    const { url, received } = await served(serving([]));
    const removed = await mps(url, 'rm', 'latest', newest.slice(-6), '--yes');
    expect(removed, removed.stderr).toMatchObject({ code: 0 });
    expect(asked(received, 'DELETE')).toEqual([expect.stringContaining(newest)]);
  });

  test('of one that is not there deletes none', async () => {
    const { url, received } = await served(serving([]));
    const refused = await mps(url, 'rm', 'latest', 'zzzz', '--yes');
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('no experiment zzzz') });
    expect(asked(received, 'DELETE')).toEqual([]);
  });
});

test('mps run of a folder without a program creates no project', async () => {
  await writeFile(join(folder, 'notes.txt'), 'no program\n');
  const { url, received } = await served((response, request) =>
    json(request.method === 'GET' ? [] : { project_id, project_name: 'p' })(response, request),
  );
  const refused = await mps(url, 'run');
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('has no program') });
  expect(received.filter(({ method }) => method !== 'GET')).toEqual([]);
});

test('mps run stores its inputs again where another command has changed them before the submission', async () => {
  await writeFile(join(folder, 'train.py'), 'print(1)\n');
  let submissions = 0;
  const { url, received } = await served((response, request) => {
    const of = `${request.method} ${request.url.split('?')[0]?.split('/').at(-1)}`;
    const answers: Readonly<Record<string, Turn>> = {
      'GET ': json([project]),
      'GET environment': json({ entry_point_command: 'a' }),
      'GET check-training': json({}),
      'GET experiments': json([]),
      'PUT environment': json({ version: submissions + 5 }),
      'GET source': json({ detail: 'none' }, 404),
      'POST source': json({ upload: null, parts: null }),
      'PUT source': json({}),
      'PUT run.yaml': json({ version: 3 }),
      'POST train': (...asking) => {
        submissions += 1;
        const changed = json({ detail: 'changed', errors: [{ name: 'environment_version' }] }, 409);
        (submissions < 3 ? changed : json({ ...experiment(newest), cost_estimate: null }))(...asking);
      },
    };
    (answers[of] ?? json({ detail: `nothing answers ${of}` }, 400))(response, request);
  });
  const begun = await mps(url, 'run', '-d');
  expect(begun, begun.stderr).toMatchObject({ code: 0, stdout: `${newest}\n` });
  const submitted = asked(received, 'POST').filter((one) => one.includes('/train?'));
  const meant = submitted.map((one) => new URL(one, url).searchParams.get('environment_version'));
  expect(meant).toEqual(['5', '6', '7']);
  expect(submitted.at(-1)).toMatch(/config_version=3&.*source_sha256=[0-9a-f]{64}/);
  expect(asked(received, 'PUT').filter((one) => one.includes('/source?'))).toHaveLength(3);
});
