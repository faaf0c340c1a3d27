import { createHash } from 'node:crypto';
import { chmod, mkdtemp, readFile, rename, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { processStartTime } from '../../shared/process/process-tree.ts';
import { type FailedStart, type LocalService, startLocalService } from '../support/local-service.ts';
import { everySample, sampled } from '../support/samples.ts';

const project = new URLSearchParams({
  'project-name': 'digits',
  'project-description': 'Reads digits',
  'project-type': 'vision',
  'project-task': 'classification',
});

async function signIn(url: string, password: string): Promise<Record<string, string>> {
  const body = new URLSearchParams({ grant_type: 'password', username: 'admin', password });
  const answer = await fetch(`${url}/auth/token`, { method: 'POST', body });
  expect(answer.status).toBe(200);
  const { access_token } = (await answer.json()) as { access_token: string };
  return { Authorization: `Bearer ${access_token}` };
}

async function listProjects(url: string, headers: Record<string, string>): Promise<unknown[]> {
  const answer = await fetch(`${url}/projects/`, { headers });
  return (await answer.json()) as unknown[];
}

describe('npm start', () => {
  let folder: string;
  let running: LocalService[];

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mps-start-'));
    // As root, jobs run as users of their own, who have to pass through; else they would work elsewhere.
    await chmod(folder, 0o711);
    running = [];
  });

  afterEach(async () => {
    for (const service of running) await service.end('SIGKILL').catch(() => undefined);
    await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  });

  const start = (environment: Record<string, string> = {}): Promise<LocalService | FailedStart> =>
    startLocalService(['--data', join(folder, 'data')], environment);

  async function started(environment: Record<string, string> = {}): Promise<LocalService> {
    const service = await start(environment);
    if (!('url' in service)) throw new Error(service.output);
    running.push(service);
    return service;
  }

  async function engines(): Promise<{ pid: number; startTime: string }[]> {
    return JSON.parse(await readFile(join(folder, 'data/engines.json'), 'utf8'));
  }

  test('signs in the first admin, and loses nothing when it is killed', async () => {
    const first = await started();
    const passwordFile = join(folder, 'data/admin-password');
    const password = await readFile(passwordFile, 'utf8');
    expect(first.output()).toContain(password);
    expect((await stat(passwordFile)).mode & 0o777).toBe(0o600);
    expect((await stat(join(folder, 'data'))).mode & 0o066).toBe(0);
    const headers = await signIn(first.url, password);
    const created = await fetch(`${first.url}/projects/?${project}`, { method: 'POST', headers });
    expect(created.status).toBe(200);
    const made = await created.json();

    const left = await engines();
    expect(left).toHaveLength(2);
    expect(await first.end('SIGKILL')).toBe('SIGKILL');

    const second = await started();
    expect(second.output()).not.toContain(password);
    expect(await listProjects(second.url, headers)).toEqual([{ ...Object(made), experiments: 0 }]);
    for (const { pid, startTime } of left) expect(await processStartTime(pid)).not.toBe(startTime);
    expect(await second.end('SIGTERM')).toBe(0);
    for (const { pid, startTime } of await engines()) {
      expect(await processStartTime(pid)).not.toBe(startTime);
    }

    const lost = join(folder, 'data/dynamodb/records.db');
    await rename(lost, `${lost}.kept`);
    const refused = await start();
    expect(refused).toMatchObject({
      code: 1,
      output: expect.stringContaining(`${lost} is missing. It contains`),
    });
    expect(refused).toMatchObject({ output: expect.not.stringMatching(/\n\s+at |AWS/) });
    await rename(`${lost}.kept`, lost);
    const third = await started();
    expect(await listProjects(third.url, headers)).toEqual([{ ...Object(made), experiments: 0 }]);
  });

  test.runIf(everySample)('keeps the promise of an upload URL that it signed before a restart', async () => {
    const first = await started({ ADMIN_PASSWORD: 'correct horse' });
    const headers = await signIn(first.url, 'correct horse');
    const created = await fetch(`${first.url}/projects/?${project}`, { method: 'POST', headers });
    const { project_id } = (await created.json()) as { project_id: string };
    const body = gzipSync('not looked at yet');
    const file = new URLSearchParams({
      sha256: createHash('sha256').update(body).digest('hex'),
      size: String(body.length),
    });
    const asked = await fetch(`${first.url}/projects/${project_id}/source?${file}`, {
      method: 'POST',
      headers,
    });
    const { upload } = (await asked.json()) as { upload: { url: string; headers: Record<string, string> } };
    await first.end('SIGKILL');
    await started();
    const sent = await fetch(upload.url, { method: 'PUT', headers: upload.headers, body });
    expect(sent.status).toBe(200);
  });

  test.runIf(everySample)('refuses a second service on the same data, and a port that is taken', async () => {
    const first = await started({ ADMIN_PASSWORD: 'correct horse' });
    expect(first.output()).not.toContain('correct horse');
    await signIn(first.url, 'correct horse');
    const second = await start();
    expect(second).toMatchObject({ code: 1, output: expect.stringContaining(`process ${first.pid}`) });
    const port = new URL(first.url).port;
    const third = await startLocalService(['--data', join(folder, 'other'), '--port', port]);
    expect(third).toMatchObject({ code: 1, output: expect.stringContaining('--port') });
  });

  const mistakes = [
    [['--colour', 'red'], {}, 'Usage: npm start'],
    [['--port', 'http'], {}, '--port must be a number'],
    [[], { LIMIT_UNFINISHED_JOBS: 'four' }, 'LIMIT_UNFINISHED_JOBS: must be a whole number above 0'],
    [[], { LIMIT_LOG_BYTES: '-5' }, 'LIMIT_LOG_BYTES: must be a whole number above 0'],
    [[], { SHARED_CLUSTER: 'maybe' }, 'SHARED_CLUSTER: '],
    [[], { LIMIT_NONSENSE: '3' }, 'There is no LIMIT_NONSENSE. Limits are: LIMIT_JOB_SECONDS'],
    [[], { ADMIN_PASSWORD: 'password' }, 'ADMIN_PASSWORD is one of the commonest passwords'],
  ] as const;
  test.each(sampled(mistakes, 5))('says what is wrong with %j %j', async (args, environment, message) => {
    const failed = await startLocalService(['--data', join(folder, 'data'), ...args], environment);
    expect(failed).toMatchObject({ code: 1, output: expect.stringContaining(message) });
  });

  test('ends at once, and says so, when an engine dies', async () => {
    const service = await started();
    const engine = (await engines()).at(-1);
    process.kill(engine?.pid ?? 0, 'SIGKILL');
    expect(await service.ended).toBe(1);
    expect(service.output()).toContain(
      'The S3 server ended unexpectedly, so the service ends at once. Start it again:',
    );
  });
});
