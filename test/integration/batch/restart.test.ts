import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { killTree } from '../../../shared/process/process-tree.ts';
import {
  clientOf,
  conversation,
  eventually,
  isRunning,
  sh,
  startLocalBatch,
  temporaryFolder,
} from './local-batch.ts';

/** A server in a process of its own, to be killed. */
async function startApart(folder: string): Promise<{ url: string; process: ChildProcess }> {
  const script = new URL('./server-process.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, [script, folder], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [url] = await once(createInterface({ input: child.stdout }), 'line');
  return { url, process: child };
}

const pidOf = async (file: string): Promise<number> => Number((await readFile(file, 'utf8')).trim());
const exists = (file: string) =>
  stat(file).then(
    () => true,
    () => false,
  );

describe('after kill -9 of the server', () => {
  test('what ran is ended and counts as lost with its host, and what waited goes on', async () => {
    const folder = await temporaryFolder();
    const first = await startApart(folder);
    const before = conversation(clientOf(first.url));
    const pids = join(folder, 'pid');
    // The first attempt and its grandchild, which has a session of its own, run for ever; the second ends well.
    const script = (name: string) =>
      sh(`[ $AWS_BATCH_JOB_ATTEMPT = 1 ] || exit 0; setsid sh -c 'echo $$ > ${pids}.new.${name}; mv ${pids}.new.${name} ${pids}.${name}; while :; do sleep 0.1; done' &
      while :; do sleep 0.1; done`);
    const retried = await before.submit([], {
      jobDefinition: 'spot',
      jobQueue: 'narrow',
      containerOverrides: { command: script('retried') },
    });
    const lost = await before.submit(script('lost'));
    const queued = await before.submit(['/bin/true'], { jobQueue: 'narrow' });
    const dependent = await before.submit(['/bin/true'], { dependsOn: [{ jobId: lost }] });
    await eventually(async () => (await exists(`${pids}.retried`)) && (await exists(`${pids}.lost`)));
    for (const id of [retried, lost]) await before.until(id, ({ status }) => status === 'RUNNING');
    await before.until(dependent, ({ status }) => status === 'PENDING');
    const orphans = [await pidOf(`${pids}.retried`), await pidOf(`${pids}.lost`)];
    first.process.kill('SIGKILL');
    await once(first.process, 'exit');
    expect(await Promise.all(orphans.map(isRunning))).toEqual([true, true]);

    const { ended, events } = await startLocalBatch({ folder });
    const reason = 'Host EC2 (local) terminated: the local Batch server was restarted.';
    expect(await ended(retried)).toMatchObject({
      status: 'SUCCEEDED',
      attempts: [{ statusReason: reason, container: {} }, { container: { exitCode: 0 } }],
    });
    expect(await ended(lost)).toMatchObject({ status: 'FAILED', statusReason: reason });
    expect((await ended(queued)).status).toBe('SUCCEEDED');
    expect((await ended(dependent)).statusReason).toBe('Dependent Job failed');
    expect(await Promise.all(orphans.map(isRunning))).toEqual([false, false]);
    await eventually(() => events.some(({ detail }) => detail.jobId === lost && detail.status === 'FAILED'));
  });

  test('a job submitted just before is there', async () => {
    const folder = await temporaryFolder();
    const first = await startApart(folder);
    const { submit } = conversation(clientOf(first.url));
    const ids = await Promise.all(
      Array.from({ length: 20 }, () => submit(['/bin/true'], { jobQueue: 'narrow' })),
    );
    first.process.kill('SIGKILL');
    await once(first.process, 'exit');
    const { describe: look } = await startLocalBatch({ folder });
    const found = await Promise.all(ids.map(look));
    expect(found.map(({ jobId }) => jobId)).toEqual(ids);
    for (const id of ids) await killTree({ marker: { name: 'AWS_BATCH_JOB_ID', value: id } });
  });
});

test('closing lets jobs that run save their work, and the next start runs them again', async () => {
  const first = await startLocalBatch();
  const { folder } = first;
  const file = join(folder, 'saved');
  const script = `[ $AWS_BATCH_JOB_ATTEMPT = 1 ] || exit 0
    trap 'echo saved > ${file}; exit 0' TERM; echo up > ${file}; while :; do sleep 0.02; done`;
  const command = sh(script);
  const id = await first.submit(command, { jobDefinition: 'spot' });
  await first.until(id, ({ status }) => status === 'RUNNING');
  await eventually(() => exists(file));
  await first.server.close();
  expect(await readFile(file, 'utf8')).toBe('saved\n');
  await expect(first.describe(id)).rejects.toThrow();
  const second = await startLocalBatch({ folder });
  const job = await second.ended(id);
  expect(job.attempts).toMatchObject([
    { statusReason: 'Host EC2 (local) terminated: the local Batch server was stopped.' },
    { container: { exitCode: 0 } },
  ]);
  expect(job.status).toBe('SUCCEEDED');
});

test('a file that is no job is put aside, a file left half written is removed', async () => {
  const first = await startLocalBatch();
  const id = await first.submit(['/bin/true']);
  await first.ended(id);
  await first.server.close();
  const jobs = join(first.folder, 'jobs');
  await writeFile(join(jobs, 'torn.json'), '{"version":1,');
  await writeFile(join(jobs, 'other.json.unfinished'), '{');
  const told = vi.spyOn(console, 'error').mockReturnValue();
  onTestFinished(() => told.mockRestore());
  const second = await startLocalBatch({ folder: first.folder });
  expect(told).toHaveBeenCalledWith(expect.stringContaining('torn.json does not contain a job'));
  expect((await second.describe(id)).status).toBe('SUCCEEDED');
  expect((await readdir(jobs)).sort()).toEqual([`${id}.json`, 'torn.json.unreadable'].sort());
});

test('a port that is taken is told at once', async () => {
  const { url } = await startLocalBatch();
  const second = startLocalBatch({ port: Number(new URL(url).port) });
  await expect(second).rejects.toMatchObject({ code: 'EADDRINUSE' });
});

test('a job that ended a day ago is forgotten, with its logs, one that ended since is not', async () => {
  const first = await startLocalBatch();
  const { folder } = first;
  const old = await first.submit(sh('echo output'));
  const recent = await first.submit(sh('echo output'));
  for (const id of [old, recent]) await first.ended(id);
  await first.server.close();
  for (const [id, hours] of [
    [old, 25],
    [recent, 23],
  ] as const) {
    const file = join(folder, 'jobs', `${id}.json`);
    const job = JSON.parse(await readFile(file, 'utf8'));
    job.nodes[0].stoppedAt = Date.now() - hours * 3600 * 1000;
    await writeFile(file, JSON.stringify({ ...job, events: [] }));
  }
  const second = await startLocalBatch({ folder });
  expect(await second.describe(old)).toBeUndefined();
  expect((await second.describe(recent)).status).toBe('SUCCEEDED');
  expect(await readdir(join(folder, 'jobs'))).toEqual([`${recent}.json`]);
  expect(await readdir(join(folder, 'logs'))).toEqual([`${recent}.0.1.log`]);
});
