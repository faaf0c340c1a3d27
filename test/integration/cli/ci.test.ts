import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runMps } from '../../support/mps.ts';
import { json, served, type Turn } from '../client/served.ts';

const project_id = '01m81vnz70vmqzhdpxra5dgmp0';
const trust = {
  trust_id: project_id,
  provider: 'github',
  name: 'octo/digits',
  claims: { repository_id: '11', ref: 'refs/heads/main' },
  scope: { rights: 'run', projects: [project_id] },
  budget: 20,
  charged: 3,
  created_at: '2026-11-29T07:00:00.000Z',
};
const exchanged = { access_token: 'ci.token', user: 'ci:octo/digits', expires_in: 3600 };

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'mps-ci-'));
});
afterEach(() => rm(home, { recursive: true, force: true }));

const serving: Turn = (response, request) => {
  const { method, url } = request;
  if (url === '/auth/oidc/exchange') json(exchanged)(response, request);
  else if (url.startsWith('/auth/trusts')) json(method === 'GET' ? [trust] : trust)(response, request);
  else if (url.startsWith('/api/v4/projects/')) json({ id: 77 })(response, request);
  else json([{ project_id, project_name: 'digits', owner_id: 'a' }])(response, request);
};

test('a job of GitHub Actions signs in with its identity token, for the audience of the service', async () => {
  const { url, received } = await served(serving);
  const github = await served(json({ value: 'signed by GitHub' }));
  const environment = {
    MPS_URL: `${url}/`,
    ACTIONS_ID_TOKEN_REQUEST_URL: `${github.url}/token?api-version=2.0`,
    ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'of the runner',
  };

  const { code } = await runMps(['ci', 'trust', 'ls'], { folder: home, home, environment });

  expect(code).toBe(0);
  const [asked] = github.received;
  expect(new URL(asked?.url ?? '', url).searchParams.get('audience')).toBe(url);
  expect(asked?.headers.authorization).toBe('Bearer of the runner');
  const [exchange] = received;
  const listed = received.find(({ url: path }) => path === '/auth/trusts');
  expect(JSON.parse(exchange?.body ?? '').subject_token).toBe('signed by GitHub');
  expect(exchange?.headers.authorization).toBeUndefined();
  expect(listed?.headers.authorization).toBe('Bearer ci.token');
});

test('a job of GitLab signs in with MPS_ID_TOKEN; a token of its own comes first', async () => {
  const { url, received } = await served(serving);
  const gitlab = { MPS_URL: url, MPS_ID_TOKEN: 'signed by GitLab' };

  const printed = await runMps(['ci', 'token'], { folder: home, home, environment: gitlab });
  await runMps(['ci', 'trust'], { folder: home, home, environment: { ...gitlab, MPS_TOKEN: 'own.token' } });

  expect(printed.stdout).toBe('ci.token\n');
  expect(JSON.parse(received[0]?.body ?? '').subject_token).toBe('signed by GitLab');
  const listed = received.find(({ url: path }) => path === '/auth/trusts');
  expect(listed?.headers.authorization).toBe('Bearer own.token');
});

test('a trust names a repository by the ids that GitLab tells, and a project', async () => {
  const { url, received } = await served(serving);
  const options = { folder: home, home, environment: { MPS_URL: url, MPS_TOKEN: 'a.b' } };
  const add = ['ci', 'trust', 'add', 'gitlab', 'group/digits', '--protected', '--issuer', url];

  const unnamed = await runMps(add, options);
  const added = await runMps([...add, '--project', 'digits', '--budget', '20'], options);
  const { stdout } = await runMps(['ci', 'trust', 'ls'], options);

  expect(unnamed).toMatchObject({ code: 2, stderr: 'Say which project its runs reach: --project NAME.\n' });
  expect(added.code).toBe(0);
  const sent = received.find(({ method, url: path }) => method === 'POST' && path === '/auth/trusts');
  expect(JSON.parse(sent?.body ?? '')).toEqual({
    provider: 'gitlab',
    name: 'group/digits',
    issuer: url,
    claims: { project_id: '77', ref_protected: true },
    scope: { rights: 'run', projects: [project_id] },
    budget: 20,
  });
  expect(stdout).toContain('github:octo/digits\tref=refs/heads/main');
});
