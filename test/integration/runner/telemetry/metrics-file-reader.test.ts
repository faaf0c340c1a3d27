import { execFileSync } from 'node:child_process';
import { appendFile, chown, mkdtemp, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { appendMetrics, readMetrics } from '../../../../shared/data/metrics/job-metrics.ts';
import type { MetricPoint } from '../../../../shared/data/metrics/metric-summary.ts';
import {
  MetricsFileReader,
  type MetricsFileReaderOptions,
} from '../../../../shared/runner/telemetry/metrics-file-reader.ts';
import { everySample } from '../../../support/samples.ts';
import { leasedExperiment } from '../leased-experiment.ts';

const line = (name: string, more: object = {}) => `${JSON.stringify({ name, value: 1, ...more })}\n`;
const isRoot = process.getuid?.() === 0;

describe('metrics that a command reports', () => {
  let folder: string;
  let file: string;
  let said: string[];
  let taken: MetricPoint[];

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'metrics-'));
    file = join(folder, 'metrics.jsonl');
    said = [];
    taken = [];
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  function reader(options: Partial<MetricsFileReaderOptions> = {}) {
    const one = new MetricsFileReader({
      file,
      sink: { append: async (_, points) => void taken.push(...points) },
      now: () => new Date(),
      say: (message) => said.push(message),
      pollMilliseconds: 5,
      ...options,
    });
    one.start();
    return one;
  }
  const names = () => taken.map(({ name }) => name);
  const sees = (...expected: string[]) => expect.poll(names).toEqual(expected);

  test('are stored while it runs, in order, with the last line that nothing ends', async () => {
    const { records, experiment, lease } = await leasedExperiment();
    const seen: MetricPoint[] = [];
    const one = reader({
      sink: {
        append: (sequence, points) => {
          seen.push(...points);
          return appendMetrics(records, experiment.experiment_id, lease, sequence, points, new Date());
        },
      },
    });
    const stored = async () =>
      (await readMetrics(records, experiment.experiment_id, undefined, { limit: 1e6, maxBytes: 1e9 })).rows;
    await writeFile(file, line('a', { step: 1 }));
    await expect.poll(async () => (await stored()).length).toBe(1);
    await appendFile(file, `${line('b')}${line('c').trimEnd()}`);
    await one.close();
    expect((await stored()).map(({ name }) => name)).toEqual(['a', 'b', 'c']);
    expect(await stored()).toEqual(seen);
    expect(said).toEqual([]);
  });

  test('may come in halves', async () => {
    const one = reader();
    await writeFile(file, `${line('a')}{"name":"b"`);
    await sees('a');
    await appendFile(file, ',"value":2}\r\n');
    await one.close();
    expect(names()).toEqual(['a', 'b']);
    expect(said).toEqual([]);
  });

  test('go on when the file is truncated or replaced', async () => {
    const one = reader();
    await writeFile(file, line('a').repeat(3));
    await sees('a', 'a', 'a');
    await truncate(file, 0);
    await appendFile(file, line('b'));
    await expect.poll(() => taken.length).toBe(4);
    await writeFile(join(folder, 'new'), line('c'));
    await appendFile(file, line('last'));
    await rename(join(folder, 'new'), file);
    await one.close();
    expect(names()).toEqual(['a', 'a', 'a', 'b', 'last', 'c']);
    expect(said).toEqual([]);
  });

  test('that are bad are left out; the log names the first three, and the run counts them and quotes these', async () => {
    const long = 'x\u001b'.repeat(90);
    await writeFile(
      file,
      `nonsense\n\n${line('a')}{"name":"x","value":null}\n{"acc":0.5,"loss":null}\n${long}\n${line('b')}`,
    );
    const one = reader();
    await one.close();
    expect(names()).toEqual(['a', 'acc', 'b']);
    expect(said).toEqual([
      'METRICS_FILE: a line is left out, because it is not JSON: "nonsense".',
      'METRICS_FILE: a line is left out, because value is not a number: "{\\"name\\":\\"x\\",\\"value\\":null}".',
      'METRICS_FILE: a line is left out, because loss is not a number: "{\\"acc\\":0.5,\\"loss\\":null}". Further such lines are only counted.',
    ]);
    expect(one.warnings).toEqual([
      '4 lines of METRICS_FILE were left out, in whole or in part. The first 3: "nonsense", because it is not JSON; "{\\"name\\":\\"x\\",\\"value\\":null}", because value is not a number; "{\\"acc\\":0.5,\\"loss\\":null}", because loss is not a number.',
    ]);
  });

  test('that are bad and long are quoted in part, without control characters', async () => {
    await writeFile(file, `${'x\u001b'.repeat(90)}\n`);
    const one = reader();
    await one.close();
    expect(one.warnings[0]).toMatch(
      /^1 line of METRICS_FILE was left out, in whole or in part: "(x\\u001b){60}…"/,
    );
  });

  test('need no file', async () => {
    await reader().close();
    expect([names(), said]).toEqual([[], []]);
  });

  test.each([
    ['a link', () => symlink('/etc/passwd', file), 'it is a link'],
    ['a pipe', async () => execFileSync('mkfifo', [file]), 'it is not a regular file'],
    ['a folder', async () => execFileSync('mkdir', [file]), 'it is not a regular file'],
  ])('are not read from %s', async (_, make, why) => {
    await make();
    const one = reader();
    await expect.poll(() => said).toEqual([`METRICS_FILE is not read: ${why}.`]);
    await one.close();
    expect(names()).toEqual([]);
    expect(said).toHaveLength(1);
  });

  test.runIf(isRoot)("are not read from somebody else's file", async () => {
    await writeFile(file, line('a'));
    await reader({ user: { uid: 54_321 } }).close();
    expect(said).toEqual(['METRICS_FILE is not read: it belongs to another user.']);
    await chown(file, 54_321, 54_321);
    await reader({ user: { uid: 54_321 } }).close();
    expect(names()).toEqual(['a']);
  });

  test('are limited to 100,000', async () => {
    await writeFile(file, line('a').repeat(100_010));
    await reader().close();
    expect(taken).toHaveLength(100_000);
    expect(said).toEqual(['METRICS_FILE: a job may report 100000 points. Later lines are left out.']);
  });

  test.runIf(everySample)('of a file that claims to be endless are limited too', async () => {
    await writeFile(file, line('a'));
    await truncate(file, 2 ** 40);
    await reader().close();
    expect(names()).toEqual(['a']);
    expect(said.at(-1)).toBe('METRICS_FILE: a job may report 134217728 bytes. Later lines are left out.');
  });
});
