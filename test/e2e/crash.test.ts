import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { findProcesses } from '../../shared/process/process-tree.ts';
import { type LocalService, startLocalService } from '../support/local-service.ts';
import { everySample } from '../support/samples.ts';

interface Experiment {
  experiment_id: string;
  status: string;
  status_reason: string | null;
  attempt: number;
  attempts: { reason: string | null }[];
}

describe('a crash in the middle of a training', () => {
  let folder: string;
  let service: LocalService;
  let headers: Record<string, string>;
  let project: string;
  let environment: Record<string, string>;
  /** Where trainings ask whether they may end. */
  let gate: Server;
  let isOpen: boolean;

  const command = () => {
    const { port } = gate.address() as AddressInfo;
    return `bash -c 'echo began; exec 3<>/dev/tcp/127.0.0.1/${port}; cat <&3; echo done'`;
  };

  async function start(): Promise<void> {
    const started = await startLocalService(['--data', join(folder, 'data')], environment);
    if (!('url' in started)) throw new Error(started.output);
    service = started;
  }

  async function call<T>(method: string, path: string, more: RequestInit = {}): Promise<T> {
    const answer = await fetch(`${service.url}${path}`, { method, headers, ...more });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return answer.headers.get('content-type')?.includes('json') ? JSON.parse(text) : (text as T);
  }

  const read = (id: string) => call<Experiment>('GET', `/projects/${project}/experiments/${id}`);
  const log = (id: string) =>
    call<string>('GET', `/projects/${project}/experiments/${id}/logs`, {
      headers: { ...headers, Accept: 'text/plain' },
    });

  async function begin(entry_point_command: string): Promise<string> {
    const query = new URLSearchParams({ env_type: 'system', dependencies: 'none', entry_point_command });
    await call('PUT', `/projects/${project}/environment?${query}`);
    const begun = await call<Experiment>('POST', `/projects/${project}/train?config=train.yaml`);
    return begun.experiment_id;
  }

  // One for all of them: each leaves it running, whatever it killed.
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mps-crash-'));
    // As root, jobs run as users of their own, who have to pass through; else they would work elsewhere.
    await chmod(folder, 0o711);
    gate = createServer((socket) => {
      socket.on('error', () => {});
      if (isOpen) socket.end();
    }).listen(0, '127.0.0.1');
    await once(gate, 'listening');
    environment = { ADMIN_PASSWORD: 'a long enough password' };
    await start();
    const body = new URLSearchParams({
      grant_type: 'password',
      username: 'admin',
      password: 'a long enough password',
    });
    const answer = await fetch(`${service.url}/auth/token`, { method: 'POST', body });
    const { access_token } = (await answer.json()) as { access_token: string };
    headers = { Authorization: `Bearer ${access_token}` };
  });

  beforeEach(async () => {
    isOpen = false;
    const query = 'project-name=p&project-description=d&project-type=t&project-task=classification';
    project = (await call<{ project_id: string }>('POST', `/projects/?${query}`)).project_id;
    await call('PUT', `/projects/${project}/configs/train.yaml`, { body: 'a: 1' });
  });

  afterAll(async () => {
    await service.end('SIGKILL').catch(() => undefined);
    gate.close();
    await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  });

  test('of the whole service: the log up to it is kept, and another attempt runs it again', async () => {
    const id = await begin(command());
    await expect.poll(() => log(id)).toContain('began');
    await service.end('SIGKILL');
    isOpen = true;
    await start();
    await expect.poll(async () => (await read(id)).status).toBe('SUCCEEDED');
    const experiment = await read(id);
    expect(experiment.attempt).toBe(2);
    const whole = await log(id);
    expect(whole).toContain('Attempt 1 of train');
    expect(whole).toContain('Attempt 2 of train');
    expect(whole).toContain('done');
  });

  test.runIf(everySample)(
    'of a storage engine: the service stops, and its next start brings the training to its end',
    async () => {
      const id = await begin(command());
      await expect.poll(() => log(id)).toContain('began');
      const [engine] = JSON.parse(await readFile(join(folder, 'data/engines.json'), 'utf8'));
      process.kill(engine.pid, 'SIGKILL');
      await service.ended;
      isOpen = true;
      await start();
      await expect.poll(async () => (await read(id)).status).toBe('SUCCEEDED');
    },
  );

  test('of the container itself: it failed, and the reason says how', async () => {
    const id = await begin('sleep 600');
    await expect.poll(async () => (await read(id)).status).toBe('RUNNING');
    await expect.poll(async () => (await read(id)).status_reason).toBe(null);
    const jobs = await findProcesses({ root: service.pid });
    const runners = await Promise.all(
      jobs.map(async ({ pid }) => ({
        pid,
        line: await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => ''),
      })),
    );
    const runner = runners.find(({ line }) => line.includes('run-job'));
    process.kill(runner?.pid ?? 0, 'SIGKILL');
    await expect.poll(async () => (await read(id)).status).toBe('FAILED');
    expect((await read(id)).status_reason).toContain('its process was killed (signal 9)');
    const left = await findProcesses({ root: service.pid });
    const lines = await Promise.all(
      left.map(({ pid }) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')),
    );
    expect(lines.filter((line) => line.startsWith('sleep'))).toEqual([]);
  });
});
