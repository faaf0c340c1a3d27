import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startPeopleIssuer } from '../integration/auth/people-issuer.ts';
import { type LocalService, startLocalService } from '../support/local-service.ts';
import { startMps } from '../support/mps.ts';

let issuer: Awaited<ReturnType<typeof startPeopleIssuer>>;
let service: LocalService;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'issuer-'));
  issuer = await startPeopleIssuer();
  issuer.people['ada'] = { preferred_username: 'ada', groups: ['ml'] };
  const flags = ['--oidc-issuer', issuer.url, '--oidc-groups', 'ml=developer'];
  const started = await startLocalService(['--data', join(folder, 'data'), ...flags]);
  if (!('url' in started)) throw new Error(started.output);
  service = started;
});
afterAll(async () => {
  await service.end('SIGTERM');
  await issuer.close();
  await rm(folder, { recursive: true, force: true });
});

/** Who is signed in, as `mps` says. */
async function whoIs(home: string): Promise<string> {
  return (await startMps(['whoami'], { folder, home }).ended).stdout;
}

test('mps opens a browser, and is signed in once the person is', async () => {
  const home = join(folder, 'browser');
  const [opener, opened] = [join(folder, 'open'), join(folder, 'opened')];
  await writeFile(opener, `#!/bin/sh\nprintf %s "$1" > '${opened}'\n`);
  await chmod(opener, 0o700);
  const mps = startMps(['login', service.url], { folder, home, environment: { BROWSER: opener } });
  await mps.printed('Sign in at ');
  await expect.poll(() => readFile(opened, 'utf8').catch(() => '')).toMatch(/challenge=/);
  const address = await readFile(opened, 'utf8');
  // Any page of a browser can bring something to the port.
  const port = new URL(address).searchParams.get('port');
  const statuses = await Promise.all(
    ['', '?code=', '?code=x'].map(async (query) => (await fetch(`http://127.0.0.1:${port}/${query}`)).status),
  );
  expect(statuses).toEqual([404, 400, 400]);
  await issuer.confirm(address, 'ada');
  const { code, stderr } = await mps.ended;

  expect([code, stderr]).toEqual([0, expect.stringContaining('as ada (developer) for 12 hours')]);
  expect(await whoIs(home)).toContain('ada');
});

test('mps on a machine without a browser is signed in by a code that is confirmed elsewhere', async () => {
  const home = join(folder, 'device');
  const mps = startMps(['login', service.url, '--device'], { folder, home });
  await mps.printed('confirm the code ');
  await issuer.confirm(mps.output().match(/https?:\S+user_code=\S+/)?.[0] ?? '', 'ada');
  const { code, stderr } = await mps.ended;

  expect([code, stderr]).toEqual([0, expect.stringContaining('as ada (developer) for 12 hours')]);
  expect(await whoIs(home)).toContain('ada');
});
