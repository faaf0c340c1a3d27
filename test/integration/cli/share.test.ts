import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runMps } from '../../support/mps.ts';
import { json, served, type Turn } from '../client/served.ts';

const project_id = '01m81vnz70vmqzhdpxra5dgmp0';
const at = '2026-11-30T07:00:00.000Z';
const reportOf = (end: string, title: string) => ({
  report_id: `01m81vnz70vmqzhdpxra5d${end}`,
  title,
  updated_by: 'ada',
  created_at: at,
  updated_at: at,
});
const reports = [reportOf('aaaa', 'Seeds'), reportOf('bbbb', 'Seeds'), reportOf('cccc', 'Month')];

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'mps-share-'));
});
afterEach(() => rm(home, { recursive: true, force: true }));

const serving: Turn = (response, request) => {
  const { method, url } = request;
  if (url.startsWith(`/projects/${project_id}/reports`)) json(reports)(response, request);
  else if (method === 'POST') json({ link_id: 'l', secret: 's', expires_at: at }, 201)(response, request);
  else json({ project_id, project_name: 'p' })(response, request);
};

test('a report is shared by its title or the end of its ID, and only by one that names one report', async () => {
  const { url, received } = await served(serving);
  const options = { folder: home, home, environment: { MPS_URL: url, MPS_TOKEN: 'a.b' } };
  const share = (name: string, ...more: string[]) =>
    runMps(['share', '--report', name, '-p', project_id, ...more], options);

  expect((await share('Month')).stdout).toBe(`${url}/console#/s/s\n`);
  expect((await share('bbbb')).code).toBe(0);
  expect((await share('Seeds')).stderr).toMatch(
    /Several reports.*"Seeds"[\s\S]*aaaa {2}Seeds[\s\S]*bbbb {2}Seeds/,
  );
  expect((await share('')).code).toBe(1);
  expect((await share('Month', '--view', 'v')).code).toBe(2);

  const sent = received.filter(({ method }) => method === 'POST').map(({ body }) => JSON.parse(String(body)));
  expect(sent.map(({ subject }) => subject)).toEqual([
    { kind: 'report', report_id: reports[2]?.report_id },
    { kind: 'report', report_id: reports[1]?.report_id },
  ]);
});
