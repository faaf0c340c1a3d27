import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CancelJobCommand, TerminateJobCommand } from '@aws-sdk/client-batch';
import { describe, expect, test } from 'vitest';
import { eventually, isRunning, sh, startLocalBatch } from './local-batch.ts';

const untilGate = (gate: string) => sh(`while [ ! -e ${gate} ]; do sleep 0.02; done`);

/** Writes the pid of a grandchild that ignores SIGTERM and has left the session, then waits for ever. */
const withGrandchild = (pidFile: string, first: string, then: string) =>
  sh(`${first}; setsid sh -c 'trap "" TERM; echo $$ > ${pidFile}.new; mv ${pidFile}.new ${pidFile}; while :; do sleep 0.1; done' &
  while [ ! -e ${pidFile} ]; do sleep 0.02; done; ${then}`);

const readPid = async (file: string) => Number(await readFile(file, 'utf8'));

describe('TerminateJob', () => {
  test('lets a job that runs end by itself, and records the reason', async () => {
    const { client, submit, until, ended, folder } = await startLocalBatch({ stopGraceSeconds: 60 });
    const file = join(folder, 'saved');
    const id = await submit(
      sh(`trap 'echo saved > ${file}; exit 0' TERM; echo up > ${file}; while :; do sleep 0.02; done`),
      {
        retryStrategy: { attempts: 5 },
      },
    );
    await until(id, ({ status }) => status === 'RUNNING');
    await eventually(() =>
      readFile(file, 'utf8').then(
        (text) => text === 'up\n',
        () => false,
      ),
    );
    await client.send(new TerminateJobCommand({ jobId: id, reason: 'no longer needed' }));
    const job = await ended(id);
    expect(await readFile(file, 'utf8')).toBe('saved\n');
    expect(job).toMatchObject({
      status: 'FAILED',
      statusReason: 'no longer needed',
      isTerminated: true,
      attempts: [{ statusReason: 'no longer needed' }],
    });
    expect(job.attempts).toHaveLength(1);
    await client.send(new TerminateJobCommand({ jobId: id, reason: 'once more' }));
    expect((await ended(id)).statusReason).toBe('no longer needed');
  });

  test('kills the whole tree of a job that ignores SIGTERM', async () => {
    const { client, submit, ended, folder } = await startLocalBatch();
    const pidFile = join(folder, 'pid');
    const id = await submit(withGrandchild(pidFile, 'trap "" TERM', 'while :; do sleep 0.1; done'));
    await eventually(() =>
      readPid(pidFile).then(
        () => true,
        () => false,
      ),
    );
    await client.send(new TerminateJobCommand({ jobId: id, reason: 'enough' }));
    const job = await ended(id);
    expect(job).toMatchObject({ status: 'FAILED', statusReason: 'enough', container: { exitCode: 137 } });
    expect(await isRunning(await readPid(pidFile))).toBe(false);
  });

  test('cancels a job that has not started', async () => {
    const { client, submit, ended, until, folder } = await startLocalBatch();
    const gate = join(folder, 'gate');
    const first = await submit(untilGate(gate), { jobQueue: 'narrow' });
    const second = await submit(['/bin/true'], { jobQueue: 'narrow' });
    await until(second, ({ status }) => status === 'RUNNABLE');
    await client.send(new TerminateJobCommand({ jobId: second, reason: 'changed my mind' }));
    const job = await ended(second);
    expect(job).toMatchObject({ status: 'FAILED', statusReason: 'changed my mind', attempts: [] });
    await writeFile(gate, '');
    expect((await ended(first)).status).toBe('SUCCEEDED');
  });
});

describe('CancelJob', () => {
  test('has no effect on a job that runs', async () => {
    const { client, submit, ended, until, folder } = await startLocalBatch();
    const gate = join(folder, 'gate');
    const id = await submit(untilGate(gate));
    await until(id, ({ status }) => status === 'RUNNING');
    await client.send(new CancelJobCommand({ jobId: id, reason: 'too late' }));
    await writeFile(gate, '');
    expect(await ended(id)).toMatchObject({ status: 'SUCCEEDED', isCancelled: false });
  });

  test('ends a PENDING job when what it depends on has ended', async () => {
    const { client, submit, ended, until, folder } = await startLocalBatch();
    const gate = join(folder, 'gate');
    const first = await submit(untilGate(gate));
    const second = await submit(['/bin/true'], { dependsOn: [{ jobId: first }] });
    await until(second, ({ status }) => status === 'PENDING');
    await client.send(new CancelJobCommand({ jobId: second, reason: 'not needed' }));
    const asked = await until(second, ({ isCancelled }) => isCancelled === true);
    expect(asked.status).toBe('PENDING');
    await writeFile(gate, '');
    expect((await ended(first)).status).toBe('SUCCEEDED');
    expect(await ended(second)).toMatchObject({ status: 'FAILED', statusReason: 'not needed', attempts: [] });
  });
});

test('a timeout stops the job for good, though attempts are left', async () => {
  const { submit, ended } = await startLocalBatch();
  const job = await ended(
    await submit(sh('exec sleep 600'), {
      timeout: { attemptDurationSeconds: 1 },
      retryStrategy: { attempts: 3 },
    }),
  );
  expect(job).toMatchObject({
    status: 'FAILED',
    statusReason: 'Job attempt duration exceeded timeout',
    timeout: { attemptDurationSeconds: 1 },
    attempts: [{ container: { exitCode: 143 }, statusReason: 'Job attempt duration exceeded timeout' }],
  });
  expect(job.attempts).toHaveLength(1);
});

test('what a job leaves behind is killed when it ends', async () => {
  const { submit, ended, folder } = await startLocalBatch();
  const pidFile = join(folder, 'pid');
  const job = await ended(await submit(withGrandchild(pidFile, ':', 'exit 0')));
  expect(job.status).toBe('SUCCEEDED');
  expect(await isRunning(await readPid(pidFile))).toBe(false);
});
