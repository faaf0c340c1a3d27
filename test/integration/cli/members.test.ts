import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runMps } from '../../support/mps.ts';
import { json, served, type Turn } from '../client/served.ts';

const project_id = '01m81vnz70vmqzhdpxra5dgmp0';
const member = {
  user_id: project_id,
  username: 'grace',
  role: 'viewer',
  added_at: '2026-11-29T07:00:00.000Z',
};
const listed = {
  project_id,
  project_name: 'p',
  owner: 'ada',
  owner_id: 'a',
  criterion: 'val_loss',
  criterion_goal: 'minimize',
  criterion_source: 'first-run',
  created_at: '2026-11-28T07:00:00.000Z',
};

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'mps-members-'));
});
afterEach(() => rm(home, { recursive: true, force: true }));

/** A service with one project and one member. */
const serving: Turn = (response, request) => {
  const { method, url } = request;
  if (url.endsWith('/members'))
    json([{ ...member, username: 'ada', role: 'owner', added_at: null }, member])(response, request);
  else if (url.includes('/members/grace')) json(member)(response, request);
  else if (method === 'PATCH')
    json({ ...listed, criterion: 'fitness', criterion_goal: 'maximize' })(response, request);
  else if (method === 'GET' && url.startsWith(`/projects/${project_id}`))
    json({ ...listed, criterion: 'fitness', criterion_goal: 'maximize', criterion_source: 'project' })(
      response,
      request,
    );
  else if (method === 'GET' && url.startsWith('/projects/?')) json([listed])(response, request);
  else json({ detail: 'Nothing else is served here.' }, 404)(response, request);
};

test('a project is listed, shared, and no longer shared', async () => {
  const { url, received } = await served(serving);
  const options = { folder: home, home, environment: { MPS_URL: url, MPS_TOKEN: 'a.b' } };
  const mps = (...args: string[]) => runMps(args, options);

  expect((await mps('projects')).stdout).toContain(`p\tada\tval_loss\t2026-11-28\t${project_id}`);
  expect((await mps('members', 'add', 'grace', '--role', 'viewer', '-p', 'p')).stderr).toBe(
    'grace is a viewer of the project.\n',
  );
  expect((await mps('members', 'ls', '-p', 'p')).stdout).toContain(
    'ada\towner\t-\ngrace\tviewer\t2026-11-29\n',
  );
  expect((await mps('members', 'remove', 'grace', '-p', 'p')).stderr).toBe(
    'grace is no longer a member of the project.\n',
  );
  expect((await mps('members', 'add', 'grace', '--role', 'owner')).code).toBe(2);

  const sent = received.map((one) => `${one.method} ${one.url}`);
  expect(sent).toContain('GET /projects/?limit=1000&member=true');
  expect(sent).toContain(`PUT /projects/${project_id}/members/grace`);
  expect(sent).toContain(`DELETE /projects/${project_id}/members/grace`);
});

test('the metric that ranks a project is shown and chosen', async () => {
  const { url, received } = await served(serving);
  const options = { folder: home, home, environment: { MPS_URL: url, MPS_TOKEN: 'a.b' } };
  const mps = (...args: string[]) => runMps(args, options);

  expect((await mps('project', '-p', 'p')).stdout).toContain('val_loss, minimize (from its first run)');
  const changed = await mps('project', '-p', 'p', '--criterion', 'fitness:max');
  expect(changed.stdout).toContain('fitness, maximize (chosen for the project)');
  await mps('project', '-p', 'p', '--criterion', 'metrics/mAP50-95(B)');

  const bodies = received
    .filter(({ method }) => method === 'PATCH')
    .map(({ body }) => JSON.parse(String(body)));
  expect(bodies).toEqual([
    { criterion: 'fitness', criterion_goal: 'maximize' },
    { criterion: 'metrics/mAP50-95(B)' },
  ]);
});
