import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { JobStore } from '../../../infra/local/batch/jobs/job-store.ts';
import { sh, startLocalBatch } from './local-batch.ts';

describe('the life of a job', () => {
  test('succeeds, with times, attempt, container and log', async () => {
    const { submit, ended, folder } = await startLocalBatch();
    const before = Date.now();
    const id = await submit(sh('echo out; echo err >&2'), { jobName: 'Life_1', tags: { team: 'a' } });
    const job = await ended(id);
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4/);
    expect(job).toMatchObject({
      jobArn: `arn:aws:batch:eu-central-1:000000000000:job/${id}`,
      jobName: 'Life_1',
      jobQueue: 'arn:aws:batch:eu-central-1:000000000000:job-queue/wide',
      jobDefinition: 'arn:aws:batch:eu-central-1:000000000000:job-definition/once:1',
      status: 'SUCCEEDED',
      statusReason: 'Essential container in task exited',
      container: { exitCode: 0, vcpus: 1, memory: 512, logStreamName: `once/default/${id}.0.1` },
      attempts: [{ container: { exitCode: 0 }, statusReason: 'Essential container in task exited' }],
      retryStrategy: { attempts: 1, evaluateOnExit: [] },
      tags: { team: 'a' },
      isCancelled: false,
      isTerminated: false,
    });
    expect(job.createdAt).toBeGreaterThanOrEqual(before);
    expect(job.startedAt).toBeGreaterThanOrEqual(job.createdAt!);
    expect(job.stoppedAt).toBeGreaterThanOrEqual(job.startedAt!);
    const log = await readFile(join(folder, 'logs', `${id}.0.1.log`), 'utf8');
    expect(log.split('\n').sort()).toEqual(['', 'err', 'out']);
  });

  test('gives the process definition, overrides and the variables of Batch, and nothing of its own', async () => {
    process.env['NOT_FOR_JOBS'] = 'secret';
    const { submit, ended, folder } = await startLocalBatch();
    const file = join(folder, 'environment.json');
    const script =
      'require("fs").writeFileSync(process.argv[1], JSON.stringify([process.env, process.cwd()]))';
    const id = await submit([], {
      containerOverrides: {
        command: [process.execPath, '-e', script, 'Ref::target', '$(echo no shell)'],
        environment: [{ name: 'GREETING', value: 'good day' }],
        resourceRequirements: [
          { type: 'VCPU', value: '2' },
          { type: 'MEMORY', value: '2048' },
          { type: 'GPU', value: '1' },
        ],
      },
      parameters: { target: file },
    });
    const job = await ended(id);
    const [environment, folderOfJob] = JSON.parse(await readFile(file, 'utf8'));
    expect(folderOfJob).toBe('/');
    expect(environment).toEqual({
      ...{
        PATH: expect.any(String),
        HOME: expect.any(String),
        LANG: expect.any(String),
        TZ: expect.any(String),
      },
      ...{ GREETING: 'good day', KEPT: 'kept' },
      AWS_BATCH_JOB_ID: id,
      AWS_BATCH_JOB_ATTEMPT: '1',
      AWS_BATCH_JQ_NAME: 'wide',
      AWS_BATCH_CE_NAME: 'local',
    });
    expect(job.container).toMatchObject({
      vcpus: 2,
      memory: 2048,
      resourceRequirements: [
        { type: 'VCPU', value: '2' },
        { type: 'MEMORY', value: '2048' },
        { type: 'GPU', value: '1' },
      ],
    });
  });

  test('fails with the exit code, the signal as a shell tells it, or what kept it from starting', async () => {
    const { submit, ended } = await startLocalBatch();
    const [code, signal, missing, oversized] = await Promise.all([
      submit(sh('exit 3')).then(ended),
      submit(sh('kill -KILL $$')).then(ended),
      submit(['/no/such/program']).then(ended),
      submit(['/bin/true', 'x'.repeat(8192)]).then(ended),
    ]);
    expect(code).toMatchObject({ status: 'FAILED', container: { exitCode: 3 } });
    expect(signal).toMatchObject({ status: 'FAILED', container: { exitCode: 137 } });
    expect(missing).toMatchObject({
      status: 'FAILED',
      statusReason: 'Task failed to start',
      container: { reason: expect.stringContaining('ENOENT') },
    });
    expect(missing.container?.exitCode).toBeUndefined();
    expect(oversized.statusReason).toBe('Container Overrides length must be at most 8192');
  });

  test('a job waits for those it depends on, and for a free slot', async () => {
    const { submit, ended, until, describe: look, folder } = await startLocalBatch();
    const gate = join(folder, 'gate');
    const first = await submit(sh(`while [ ! -e ${gate} ]; do sleep 0.02; done`), { jobQueue: 'narrow' });
    await until(first, ({ status }) => status === 'RUNNING');
    const second = await submit(['/bin/true'], { dependsOn: [{ jobId: first }], jobQueue: 'narrow' });
    const third = await submit(['/bin/true'], { dependsOn: [{ jobId: second }] });
    const queued = await submit(['/bin/true'], { jobQueue: 'narrow' });
    await until(second, ({ status }) => status === 'PENDING');
    const waiting = await until(queued, ({ status }) => status === 'RUNNABLE');
    expect(waiting.statusReason).toBe('Waiting for a free slot: 1 of 1 jobs are running.');
    expect((await look(third)).dependsOn).toEqual([{ jobId: second }]);
    await writeFile(gate, '');
    const [a, b, c, d] = [await ended(first), await ended(second), await ended(third), await ended(queued)];
    expect([a, b, c, d].map(({ status }) => status)).toEqual(Array(4).fill('SUCCEEDED'));
    expect(b.startedAt).toBeGreaterThanOrEqual(a.stoppedAt!);
    expect(c.startedAt).toBeGreaterThanOrEqual(b.stoppedAt!);
  });

  test('a queue starts its jobs in the order of their submission', async () => {
    const { submit, ended, folder } = await startLocalBatch();
    const file = join(folder, 'order');
    const ids: string[] = [];
    for (const name of ['1', '2', '3', '4']) {
      ids.push(await submit(sh(`printf ${name} >> ${file}`), { jobQueue: 'narrow' }));
    }
    for (const id of ids) await ended(id);
    expect(await readFile(file, 'utf8')).toBe('1234');
  });

  test('a job whose record is slow to write is not overtaken by those after it', async () => {
    const { submit, until, ended, folder } = await startLocalBatch();
    const file = join(folder, 'order');
    const { promise: written, resolve: write } = Promise.withResolvers<void>();
    let slow: string | undefined;
    const original = JobStore.prototype.change;
    const change = vi.spyOn(JobStore.prototype, 'change').mockImplementation(async function (
      this: JobStore,
      id,
      step,
    ) {
      slow ??= id;
      if (id === slow) await written;
      return await original.call(this, id, step);
    });
    onTestFinished(() => {
      change.mockRestore();
      write();
    });
    const first = await submit(sh(`printf 1 >> ${file}`), { jobQueue: 'narrow' });
    const second = await submit(sh(`printf 2 >> ${file}`), { jobQueue: 'narrow' });
    await until(second, ({ status }) => status === 'RUNNABLE');
    write();
    for (const id of [first, second]) await ended(id);
    expect(await readFile(file, 'utf8')).toBe('12');
  });

  test('a failed dependency fails its dependents, one that ended before the submission counts', async () => {
    const { submit, ended } = await startLocalBatch();
    const bad = await submit(['/bin/false']);
    const waiting = await submit(['/bin/true'], { dependsOn: [{ jobId: bad }] });
    const further = await submit(['/bin/true'], { dependsOn: [{ jobId: waiting }] });
    await ended(bad);
    const late = await submit(['/bin/true'], { dependsOn: [{ jobId: bad }] });
    const good = await submit(['/bin/true']);
    await ended(good);
    const after = await submit(['/bin/true'], { dependsOn: [{ jobId: good }] });
    for (const id of [waiting, further, late]) {
      const job = await ended(id);
      expect(job).toMatchObject({ status: 'FAILED', statusReason: 'Dependent Job failed', attempts: [] });
    }
    expect((await ended(after)).status).toBe('SUCCEEDED');
  });
});

describe('another attempt', () => {
  /** Exits with 10 and the number of the attempt, but well at the given one. */
  const failsUntil = (attempt: number) =>
    sh(`[ $AWS_BATCH_JOB_ATTEMPT = ${attempt} ] || exit 1$AWS_BATCH_JOB_ATTEMPT`);

  test('follows a failure while attempts are left', async () => {
    const { submit, ended, events } = await startLocalBatch();
    const third = await submit(failsUntil(3), { retryStrategy: { attempts: 3 } });
    const never = await submit(failsUntil(9), { retryStrategy: { attempts: 2 } });
    const good = await ended(third);
    expect(good.status).toBe('SUCCEEDED');
    expect(good.attempts?.map(({ container }) => container?.exitCode)).toEqual([11, 12, 0]);
    const bad = await ended(never);
    expect(bad.status).toBe('FAILED');
    expect(bad.attempts?.map(({ container }) => container?.exitCode)).toEqual([11, 12]);
    const states = events.filter(({ detail }) => detail.jobId === never).map(({ detail }) => detail.status);
    expect(states.filter((status) => status === 'RUNNABLE')).toHaveLength(2);
  });

  test('is up to the first rule that matches', async () => {
    const { submit, ended } = await startLocalBatch();
    const evaluateOnExit = [
      { action: 'RETRY' as const, onExitCode: '11' },
      { action: 'EXIT' as const, onExitCode: '1*', onStatusReason: 'Essential*' },
      { action: 'RETRY' as const, onReason: '*' },
    ];
    const id = await submit(failsUntil(9), { retryStrategy: { attempts: 5, evaluateOnExit } });
    const job = await ended(id);
    expect(job.attempts?.map(({ container }) => container?.exitCode)).toEqual([11, 12]);
    expect(job.retryStrategy).toEqual({ attempts: 5, evaluateOnExit });
  });

  test('ends on Spot with the reason of AWS when its host is taken back', async () => {
    const queues = [{ name: 'wide', maxJobs: 1, lossSeconds: 0.2 }];
    const { submit, ended } = await startLocalBatch({ queues });
    const job = await ended(await submit(['/bin/sleep', '60']));
    expect(job).toMatchObject({ status: 'FAILED', statusReason: 'Your Spot Task was interrupted.' });
    expect(job.attempts).toHaveLength(1);
    expect(job.attempts?.[0]?.container?.exitCode).toBeUndefined();
  });

  test('does not follow a plain failure under rules that end with EXIT', async () => {
    const { submit, ended } = await startLocalBatch();
    const job = await ended(await submit(['/bin/false'], { jobDefinition: 'spot' }));
    expect(job).toMatchObject({ status: 'FAILED', attempts: [{ container: { exitCode: 1 } }] });
    expect(job.attempts).toHaveLength(1);
  });
});
