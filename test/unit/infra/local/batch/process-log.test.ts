import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import { removeLogs, writeLog } from '../../../../../infra/local/batch/jobs/job-process.ts';

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'process-log-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

test('keeps the end of what is written, in two files below the limit', async () => {
  const folder = await temporaryFolder();
  const path = join(folder, 'logs', 'a.log');
  const lines = Array.from({ length: 1000 }, (_, index) => `line ${String(index).padStart(4, '0')}\n`);
  await writeLog(path, [Readable.from(lines.map((line) => Buffer.from(line)))], 1000);
  const kept = (await readFile(`${path}.1`, 'utf8')) + (await readFile(path, 'utf8'));
  expect(lines.join('').endsWith(kept)).toBe(true);
  expect(kept.length).toBeGreaterThan(500);
  expect(kept.length).toBeLessThanOrEqual(1000);
});

test('a folder that cannot be written costs the log alone: the stream is read to its end', async () => {
  const stream = Readable.from([Buffer.from('a'), Buffer.from('b')]);
  await writeLog('/dev/null/logs/a.log', [stream]);
  expect(stream.readableEnded).toBe(true);
});

test('removes the logs of a job and no others', async () => {
  const folder = await temporaryFolder();
  for (const name of ['a.0.1.log', 'a.1.1.log', 'ab.0.1.log']) {
    await writeLog(join(folder, name), [Readable.from([Buffer.from('x')])]);
  }
  await removeLogs(folder, 'a.');
  expect(await readdir(folder)).toEqual(['ab.0.1.log']);
});
