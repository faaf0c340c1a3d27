import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runMps } from '../../support/mps.ts';
import { json, served, type Turn } from '../client/served.ts';

const project_id = '01m81vnz70vmqzhdpxra5dgmp0';
const schedule = {
  schedule_id: '01m81vnz70vmqzhdpxra5dgmp1',
  project_id,
  name: 'retrain',
  cron: '0 3 * * 1-5',
  zone: 'Europe/Berlin',
  status: 'ACTIVE',
  status_reason: null,
  next_at: '2026-11-30T02:00:00.000Z',
  command: 'python retrain.py',
  recent: [{ result: 'skipped', reason: 'Its project is deleted.' }],
};
const paused = { ...schedule, status: 'PAUSED', status_reason: 'Paused by ada.', next_at: null };

let home: string;
/** Bodies of the changes that were asked for. */
let changes: unknown[];
beforeEach(async () => {
  changes = [];
  home = await mkdtemp(join(tmpdir(), 'mps-schedules-'));
});
afterEach(() => rm(home, { recursive: true, force: true }));

/** A service with one project and one schedule. */
const serving: Turn = (response, request) => {
  const { method, url } = request;
  const at = `/projects/${project_id}/schedules/${schedule.schedule_id}`;
  if (url === `${at}/pause`) json(paused)(response, request);
  else if (url === `${at}/resume`) json(schedule)(response, request);
  else if (url === at && method === 'PATCH') {
    changes.push(JSON.parse(String(request.body)));
    json(schedule)(response, request);
  } else if (url === at && method === 'DELETE')
    json({ schedule_id: schedule.schedule_id })(response, request);
  else if (url.startsWith(`/projects/${project_id}/schedules`)) json([schedule])(response, request);
  else if (method === 'GET' && url.startsWith('/projects/?'))
    json([{ project_id, project_name: 'p', owner: 'ada', owner_id: 'a' }])(response, request);
  else json({ detail: 'Nothing else is served here.' }, 404)(response, request);
};

test('schedules are listed in their own time, paused, resumed and deleted by name', async () => {
  const { url } = await served(serving);
  const options = { folder: home, home, environment: { MPS_URL: url, MPS_TOKEN: 'a.b' } };
  const mps = (...args: string[]) => runMps(['schedule', ...args, '-p', 'p'], options);

  const listed = await mps('ls');
  const pausing = await mps('pause', 'retrain');
  const resuming = await mps('resume', 'dgmp1');
  const removing = await mps('rm', 'retrain');
  const unknown = await mps('rm', 'nightly');

  expect(listed.stdout).toContain('2026-11-30 03:00 (Europe/Berlin)\tskipped: Its project is deleted.');
  expect(pausing.stderr).toBe(`${schedule.schedule_id} is paused.\n`);
  expect(resuming.stderr).toBe(`${schedule.schedule_id} runs next at 2026-11-30 03:00 (Europe/Berlin).\n`);
  expect(removing.stderr).toBe(`Deleted ${schedule.schedule_id}. Its experiments stay.\n`);
  expect(unknown).toMatchObject({ code: 1, stderr: expect.stringContaining('mps schedule ls') });
});

test('a schedule is changed by name: its time, its money, its command, and whether it is paused', async () => {
  const { url } = await served(serving);
  const options = { folder: home, home, environment: { MPS_URL: url, MPS_TOKEN: 'a.b' } };
  const change = (...args: string[]) =>
    runMps(['schedule', 'change', 'retrain', '-p', 'p', ...args], options);

  const moved = await change('--cron', '30 4 * * *', '--zone', 'Europe/Berlin', '--budget', 'none');
  await change('--no-paused', '--budget', '5', '--', 'python', 'a program.py', '--epochs', '20');
  await change('--paused');
  const nothing = await change();
  const unpayable = await change('--budget', 'much');

  expect(moved.stderr).toBe(`${schedule.schedule_id} runs next at 2026-11-30 03:00 (Europe/Berlin).\n`);
  expect(changes).toEqual([
    { cron: '30 4 * * *', zone: 'Europe/Berlin', budget: null },
    { paused: false, budget: 5, command: "python 'a program.py' --epochs 20" },
    { paused: true },
  ]);
  expect(nothing).toMatchObject({ code: 2, stderr: expect.stringContaining('Say what to change: --cron') });
  expect(unpayable).toMatchObject({ code: 2, stderr: expect.stringContaining('must be an amount in US$') });
});

test('what the service would refuse of a schedule is refused before anything is sent, all at once', async () => {
  const { url, received } = await served(serving);
  const options = { folder: home, home, environment: { MPS_URL: url, MPS_TOKEN: 'a.b' } };
  await writeFile(join(home, 'train.sh'), 'true');

  const words = ['schedule', '* * * * *', '--zone', 'Mars/Olympus', '--overlap', 'both', '--budget', '0'];
  const refused = await runMps([...words, '--name', 'x'.repeat(101), '-p', 'p'], options);

  expect(refused).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(
      /^name is longer than 100 characters\ncron fires more than once in 5 minutes.*\nzone is not a time zone.*\noverlap must be skip or queue\nbudget must be a number above 0.*\nNothing was sent\.\n$/,
    ),
  });
  expect(received.filter(({ method }) => method !== 'GET')).toEqual([]);
});
