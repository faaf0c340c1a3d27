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
