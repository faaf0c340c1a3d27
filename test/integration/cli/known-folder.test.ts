import { cp, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runMps, startMps } from '../../support/mps.ts';
import { json, served, type Turn } from '../client/served.ts';

const project_id = '01m81vnz70vmqzhdpxra5dgmp0';

let folder: string;
let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'mps-known-home-'));
  folder = await mkdtemp(join(tmpdir(), 'mps-known-'));
  await writeFile(join(folder, 'train.py'), '');
  await writeFile(join(folder, 'mps.yaml'), 'project: p\n');
});
afterEach(() => Promise.all([folder, home].map((path) => rm(path, { recursive: true, force: true }))));

/** A service with one project, which holds the secret TOKEN. */
const serving: Turn = (response, request) => {
  const { method, url } = request;
  if (url.endsWith('/variables')) json([{ name: 'TOKEN', secret: true, value: null }])(response, request);
  else if (url.includes('/variables/')) json({ name: 'SET', secret: false })(response, request);
  else if (url === '/users/me') json({ account_type: 'user' })(response, request);
  else if (method === 'GET' && url.startsWith('/projects/?'))
    json([{ project_id, project_name: 'p', owner: 'ada', owner_id: 'a' }])(response, request);
  else json({ detail: 'Nothing else is served here.' }, 404)(response, request);
};

describe('the project that the mps.yaml of a folder names', () => {
  test('is not confirmed by a variable that everybody may read', async () => {
    const { url } = await served(serving);
    const options = { folder, home, environment: { MPS_URL: url, MPS_TOKEN: 'a.b' } };

    const set = await runMps(['env', 'set', '--plain', 'SET=1'], options);
    const run = await runMps(['run'], options);

    expect(set, set.stderr).toMatchObject({ code: 0 });
    expect(run).toMatchObject({ code: 2, stderr: expect.stringContaining('If you trust this folder') });
  });

  test('is confirmed by a secret', async () => {
    const { url, received } = await served(serving);
    const options = { folder, home, environment: { MPS_URL: url, MPS_TOKEN: 'a.b' } };

    const set = await startMps(['env', 'set', 'SET'], { ...options, input: 'my own\n' }).ended;
    await runMps(['run'], options);

    expect(set, set.stderr).toMatchObject({ code: 0 });
    const stored = received.filter(({ method }) => method === 'PUT').map((one) => one.url.split('?')[0]);
    expect(stored).toContain(`/projects/${project_id}/environment`);
  });

  test.each(['another folder', 'another declaration'])(
    'is confirmed no longer when %s is at its path',
    async (what) => {
      const { url, received } = await served(serving);
      const options = { folder, home, environment: { MPS_URL: url, MPS_TOKEN: 'a.b' } };
      await startMps(['env', 'set', 'SET'], { ...options, input: 'my own\n' }).ended;
      if (what === 'another folder') {
        await rename(folder, join(home, 'former'));
        await cp(join(home, 'former'), folder, { recursive: true });
      } else await writeFile(join(folder, 'mps.yaml'), 'project: p\ncommand: python other.py\n');

      const run = await runMps(['run'], options);

      expect(run).toMatchObject({ code: 2, stderr: expect.stringContaining('If you trust this folder') });
      expect(received.some(({ url }) => url.includes(`/projects/${project_id}/environment`))).toBe(false);
    },
  );
});

describe('a folder without a name for its project', () => {
  test('asks before it shares the project of another folder of the same name', async () => {
    const { url, received } = await served((response, request) => {
      const { method, url } = request;
      if (method === 'GET' && url.startsWith('/projects/?'))
        json([{ project_id, project_name: 'train', owner: 'ada', owner_id: 'a' }])(response, request);
      else if (url.endsWith('/variables')) json([])(response, request);
      else json({ detail: 'Nothing else is served here.' }, 404)(response, request);
    });
    const environment = { MPS_URL: url, MPS_TOKEN: 'a.b' };
    const [first, second] = [join(home, 'one/train'), join(home, 'two/train')];
    for (const path of [first, second]) await cp(folder, path, { recursive: true });
    for (const path of [first, second]) await rm(join(path, 'mps.yaml'));
    const run = (path: string, ...args: string[]) =>
      runMps(['run', ...args], { folder: path, home, environment });
    const stored = () => received.filter(({ method }) => method === 'PUT').length;

    await run(first);
    const former = stored();
    const refused = await run(second);
    const asked = stored();
    await run(second, '--project', 'train');
    const again = await run(second);

    expect(former).toBeGreaterThan(0);
    expect(refused).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`another folder of the same name, ${first}`),
    });
    expect(asked).toBe(former);
    expect(again.stderr).not.toContain('another folder');
  });
});

test('mps run --dry-run shows what would be sent, installed and run, and changes nothing', async () => {
  const { url, received } = await served((response, request) => {
    if (request.method === 'GET' && request.url.startsWith('/projects/?')) json([])(response, request);
    else if (request.url === '/') json({ python_versions: ['3.13'], package_indexes: [] })(response, request);
    else json({ detail: 'Nothing else is served here.' }, 404)(response, request);
  });
  await writeFile(join(folder, 'requirements.txt'), 'numpy==2.3.4\n');
  const options = { folder, home, environment: { MPS_URL: url, MPS_TOKEN: 'a.b' } };

  const { code, stdout, stderr } = await runMps(['run', '--spot', '--dry-run', '--memory', '2048'], options);

  expect(code, stderr).toBe(0);
  expect(stdout).toMatch(/^project +p, would be created$/m);
  expect(stdout).toMatch(/^installs +numpy==2\.3\.4$/m);
  expect(stdout).toMatch(/^source +3 files, \d+ B before they are packed$/m);
  expect(stdout).toMatch(/^size +2048 MiB memory$/m);
  expect(stdout).toMatch(/^capacity +spot-then-on-demand$/m);
  expect(stdout).toMatch(/^command +python train\.py$/m);
  expect(received.filter(({ method }) => method !== 'GET')).toEqual([]);
});
