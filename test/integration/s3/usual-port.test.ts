import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type RunningS3, startS3Server } from '../../../infra/local/s3/s3-server.ts';
import { onUsualPort } from '../../../infra/local/start/emulators/s3-process.ts';

let folder: string;
let running: RunningS3[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'usual-port-'));
  running = [];
});

afterEach(async () => {
  for (const server of running) await server.close();
  await rm(folder, { recursive: true });
});

const remembered = () => join(folder, 'port.json');

async function start(name: string): Promise<RunningS3> {
  const server = await onUsualPort(remembered(), (port) =>
    startS3Server({
      folder: join(folder, name),
      port,
      region: 'us-east-1',
      credentials: { accessKeyId: 'id', secretAccessKey: 'secret' },
      buckets: [],
    }),
  );
  running.push(server);
  return server;
}

test('a server comes back on the port that it had', async () => {
  const first = await start('one');
  await running.pop()?.close();
  expect((await start('one')).url).toBe(first.url);
});

test('where that one is taken it gets another, which is its usual one from then on', async () => {
  const first = await start('one');
  const second = await start('two');
  expect(second.url).not.toBe(first.url);
  await running.pop()?.close();
  expect((await start('two')).url).toBe(second.url);
});

test.each(['', '{"port": 70000}', '{"port": 0}', '[]'])(
  'a file that holds %j remembers none',
  async (text) => {
    await writeFile(remembered(), text);
    expect((await fetch((await start('one')).url)).status).toBe(403);
  },
);
