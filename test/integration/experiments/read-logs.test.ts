import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { endpoint as readMetrics } from '../../../functions/experiments/metrics/read-metrics.endpoint.ts';
import { endpoint as readLogs } from '../../../functions/experiments/records/read-logs.endpoint.ts';
import { putExperiment } from '../../../shared/data/experiments/experiment.ts';
import { appendLog } from '../../../shared/data/jobs/job-log.ts';
import { findLease, noteWatched, takeLease } from '../../../shared/data/jobs/lease.ts';
import type { AnyEndpoint } from '../../../shared/http/definition/middleware.ts';
import { JobWatch } from '../../../shared/runner/telemetry/job-watch.ts';
import { experimentOf } from '../../support/experiment.ts';
import { everySample } from '../../support/samples.ts';
import { testService } from '../../support/service.ts';
import { newProject } from '../projects/new-project.ts';
import { lease, time } from './held-lease.ts';

test('a log is answered whole up to 4 MB of body, and from there by its cursor', async () => {
  const service = await testService();
  const owner = await service.user('developer');
  const project_id = await newProject(service, owner);
  const ended = { ...experimentOf(project_id, 0.9), stopped_at: time };
  const { experiment_id } = ended;
  await service.records.write(putExperiment(ended), takeLease(experiment_id, 0, lease, undefined));
  const line = (message: string) => ({ time, stream: 'stdout' as const, message });
  let printed = 0;
  const append = async (chunks: number, pad: string) => {
    for (let chunk = 0; chunk < chunks; chunk += 1) {
      const lines = Array.from({ length: 1000 }, () => line(`${printed++}${pad}`));
      await appendLog(service.records, experiment_id, 0, lease, printed, lines, new Date());
    }
  };
  const read = (query: string) =>
    service.call(readLogs, { path: { project_id, experiment_id }, query, as: owner });

  await append(12, '');
  const whole = await read('');
  expect(whole.json.map(({ message }: { message: string }) => message)).toEqual(
    Array.from({ length: 12_000 }, (_, index) => String(index)),
  );
  expect(whole.headers['link']).toBeUndefined();

  await append(24, '.'.repeat(100));
  const first = await read('');
  expect(Buffer.byteLength(JSON.stringify(first.json))).toBeLessThan(4_000_000);
  const link = /<\?(.*)>; rel="next"/.exec(first.headers['link'] ?? '')?.[1] ?? '';
  const second = await read(link);
  expect(first.json.length + second.json.length).toBe(36_000);
  expect(second.headers['link']).toBeUndefined();
});

test('as plain text a log drives no terminal, as JSON it is what was printed', async () => {
  const service = await testService();
  const owner = await service.user('developer');
  const project_id = await newProject(service, owner);
  const ended = { ...experimentOf(project_id, 0.9), stopped_at: time };
  const { experiment_id } = ended;
  await service.records.write(putExperiment(ended), takeLease(experiment_id, 0, lease, undefined));
  const message = 'epoch 1\u001b]52;c;ZXZpbA==\u0007\u001b[2J\tloss 0.5';
  await appendLog(
    service.records,
    experiment_id,
    0,
    lease,
    0,
    [{ time, stream: 'stdout', message }],
    new Date(),
  );
  const path = { project_id, experiment_id };
  const text = await service.call(readLogs, { path, headers: { Accept: 'text/plain' }, as: owner });
  expect(text.text).toBe('epoch 1\tloss 0.5\n');
  expect((await service.call(readLogs, { path, as: owner })).json).toEqual([
    { time, stream: 'stdout', message },
  ]);
});

test('a read of a running job is seen by the job, with one write for all who read, and of an ended one leaves nothing', async () => {
  const service = await testService();
  const owner = await service.user('developer');
  const project_id = await newProject(service, owner);
  const running = { ...experimentOf(project_id, 0.9), status: 'RUNNING' as const, stopped_at: null };
  const ended = { ...experimentOf(project_id, 0.9), stopped_at: time };
  for (const one of [running, ended])
    await service.records.write(
      putExperiment(one),
      takeLease(one.experiment_id, 0, lease, undefined),
      takeLease(one.experiment_id, 1, lease, undefined),
    );
  const watchOf = (experiment_id: string, node: number, ahead = 0) =>
    new JobWatch(service.records, experiment_id, node, () => new Date(Date.now() + ahead)).isWatched();
  const read = (endpoint: AnyEndpoint, experiment_id: string, query = '') =>
    service.call(endpoint, { path: { project_id, experiment_id }, query, as: owner });

  for (const endpoint of [readLogs, readMetrics]) {
    expect((await read(endpoint, ended.experiment_id)).status).toBe(200);
    expect(await watchOf(ended.experiment_id, 0)).toBe(false);
  }
  expect(await watchOf(running.experiment_id, 0)).toBe(false);
  await read(readLogs, running.experiment_id, 'node=1');
  expect(await watchOf(running.experiment_id, 1)).toBe(true);
  expect(await watchOf(running.experiment_id, 0)).toBe(false);
  await read(readMetrics, running.experiment_id);
  const first = (await findLease(service.records, running.experiment_id, 0))?.watched_until;
  await Promise.all(Array.from({ length: 5 }, () => read(readLogs, running.experiment_id)));
  expect((await findLease(service.records, running.experiment_id, 0))?.watched_until).toBe(first);
  expect(await watchOf(running.experiment_id, 0)).toBe(true);
  expect(await watchOf(running.experiment_id, 0, 31_000)).toBe(false);
  await noteWatched(service.records, running.experiment_id, 0, new Date(Date.now() + 11_000));
  expect(await watchOf(running.experiment_id, 0, 31_000)).toBe(true);
  await noteWatched(service.records, 'no-such-job', 0, new Date());
  expect(await findLease(service.records, 'no-such-job', 0)).toBeUndefined();
});

test.runIf(everySample)(
  'a search finds lines of the whole log with their numbers and places, in pages of bounded work',
  async () => {
    const service = await testService();
    const owner = await service.user('developer');
    const project_id = await newProject(service, owner);
    const ended = { ...experimentOf(project_id, 0.9), stopped_at: time };
    const { experiment_id } = ended;
    await service.records.write(putExperiment(ended), takeLease(experiment_id, 0, lease, undefined));
    const pad = '.'.repeat(2_000);
    const messageOf = (number: number) =>
      number % 1_700 === 1_699 ? `Loss is "NaN" at ${number}` : `${number}${pad}`;
    for (let chunk = 0; chunk < 150; chunk += 1) {
      const lines = Array.from({ length: 100 }, (_, index) => ({
        time,
        stream: 'stdout' as const,
        message: messageOf(chunk * 100 + index),
      }));
      await appendLog(service.records, experiment_id, 0, lease, chunk, lines, new Date());
    }
    const path = { project_id, experiment_id };
    const read = (query: string) => service.call(readLogs, { path, query, as: owner });

    const pages: { number: number; message: string }[][] = [];
    let query: string | undefined = `search=${encodeURIComponent('"nan" at')}`;
    while (query !== undefined) {
      const answer = await read(query);
      pages.push(answer.json);
      query = /<\?(.*)>; rel="next"/.exec(answer.headers['link'] ?? '')?.[1];
    }

    const found = pages.flat();
    expect(found.map(({ number }) => number)).toEqual(
      Array.from({ length: 8 }, (_, index) => 1_699 + 1_700 * index),
    );
    // 30 MB of log, of which a page reads 20 MB.
    expect(pages).toHaveLength(2);
    for (const { message, number } of found) {
      const around = await read(`line=${number - 50}&limit=60`);
      const messages = around.json.map((line: { message: string }) => line.message);
      expect(messages).toEqual(Array.from({ length: 60 }, (_, index) => messageOf(number - 50 + index)));
      expect(messages[50]).toBe(message);
    }
    const one = await read('search=loss&limit=1');
    expect(one.json.map(({ number }: { number: number }) => number)).toEqual([1_699]);
    const two = await read(/<\?(.*)>; rel="next"/.exec(one.headers['link'] ?? '')?.[1] ?? '');
    expect(two.json.map(({ number }: { number: number }) => number)).toEqual([3_399]);
    expect((await read('search=nothing+like+this')).json).toEqual([]);
    for (const both of ['search=a&tail=3', 'line=3&tail=3', 'search=a&line=3'])
      expect((await read(both)).status, both).toBe(400);
  },
);

test('a page of a search is no longer than one of the log', async () => {
  const service = await testService();
  const owner = await service.user('developer');
  const project_id = await newProject(service, owner);
  const ended = { ...experimentOf(project_id, 0.9), stopped_at: time };
  const { experiment_id } = ended;
  await service.records.write(putExperiment(ended), takeLease(experiment_id, 0, lease, undefined));
  const message = `${'.'.repeat(50_000)} hit`;
  for (let chunk = 0; chunk < 20; chunk += 1) {
    const lines = Array.from({ length: 5 }, () => ({ time, stream: 'stdout' as const, message }));
    await appendLog(service.records, experiment_id, 0, lease, chunk, lines, new Date());
  }

  const pages: number[] = [];
  let query: string | undefined = 'search=hit';
  while (query !== undefined) {
    const answer = await service.call(readLogs, { path: { project_id, experiment_id }, query, as: owner });
    pages.push(answer.json.length);
    query = /<\?(.*)>; rel="next"/.exec(answer.headers['link'] ?? '')?.[1];
  }

  expect(pages).toEqual([60, 40]);
});

test('a log is read from any line, in pages of bounded work, and beyond its end there is none', async () => {
  const service = await testService();
  const owner = await service.user('developer');
  const project_id = await newProject(service, owner);
  const running = { ...experimentOf(project_id, 0.9), status: 'RUNNING' as const, stopped_at: null };
  const { experiment_id } = running;
  await service.records.write(putExperiment(running), takeLease(experiment_id, 0, lease, undefined));
  let number = 0;
  for (let chunk = 0; chunk < 60; chunk += 1) {
    const lines = Array.from({ length: 10 + (chunk % 3) }, () => ({
      time,
      stream: 'stdout' as const,
      // Some 22 KB a line that gzip leaves as they are.
      message: `${number++} ${randomBytes(16_000).toString('base64')}`,
    }));
    await appendLog(service.records, experiment_id, 0, lease, chunk, lines, new Date());
  }
  const read = (query: string) =>
    service.call(readLogs, { path: { project_id, experiment_id }, query, as: owner });
  const follow = async (line: number) => {
    const pages: string[] = [];
    let query: string | undefined = `line=${line}&limit=2`;
    while (query !== undefined && pages.at(-1) === undefined) {
      const answer = await read(query);
      pages.push(...answer.json.map(({ message }: { message: string }) => message.split(' ')[0]));
      query = /<\?(.*)>; rel="next"/.exec(answer.headers['link'] ?? '')?.[1];
    }
    return { pages, query };
  };

  for (const line of [0, 9, 10, 351, number - 2])
    expect((await follow(line)).pages, String(line)).toEqual([String(line), String(line + 1)]);
  // The way to the end is longer than one page goes.
  const far = await read(`line=${number - 1}`);
  expect(far.json).toEqual([]);
  expect(far.headers['link']).toMatch(/line=/);
  const { query } = await follow(4);
  expect(query).not.toMatch(/line=/);
  expect((await read(query ?? '')).json[0].message).toMatch(/^6 /);
  expect(await follow(number)).toEqual({ pages: [], query: undefined });
  expect((await read('line=3&cursor=bm90')).status).toBe(400);
});
