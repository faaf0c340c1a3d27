import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { listeningSocket, startS3Process } from '../../../infra/local/start/emulators/s3-process.ts';

const program = fileURLToPath(new URL('../../../infra/local/s3/main.ts', import.meta.url));

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'handed-socket-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Connects as soon as something listens, sends a request, and says whether it was answered or the connection closed. */
async function visit(port: number): Promise<'refused' | 'closed' | 'answered'> {
  const socket = connect({ host: '127.0.0.1', port });
  const closed = once(socket, 'close').then(
    () => 'closed' as const,
    () => 'closed' as const,
  );
  const connected = await once(socket, 'connect').then(
    () => true,
    () => false,
  );
  if (!connected) return 'refused';
  socket.write('GET / HTTP/1.1\r\nHost: storage\r\n\r\n');
  const answered = once(socket, 'data').then(
    () => 'answered' as const,
    () => 'closed' as const,
  );
  const end = await Promise.race([answered, closed]);
  socket.destroy();
  return end;
}

test('a client that comes while a listening socket is handed over is answered, or told to come again', async () => {
  const socket = await listeningSocket(0, '127.0.0.1');
  const port = Number(Reflect.get(Object(socket.address()), 'port'));
  await new Promise((resolve) => socket.close(resolve));
  let isStarted = false;
  const visits: Promise<string>[] = [];
  const visiting = (async () => {
    while (!isStarted) {
      visits.push(visit(port));
      await sleep(1);
    }
  })();
  const server = await startS3Process(
    program,
    {
      folder: join(folder, 's3'),
      port,
      region: 'us-east-1',
      credentials: { accessKeyId: 'LOCALKEY', secretAccessKey: 'local-secret' },
      buckets: ['one'],
    },
    {
      options: { socket: join(folder, 'relay.sock'), port: 1 },
      enter: (file, args) => ({ file, args: [...args] }),
    },
  );
  visits.push(visit(port));
  isStarted = true;
  await visiting;
  const ends = await Promise.all(visits);
  await server.close();
  expect(new URL(server.url).port).toBe(String(port));
  expect(ends).toContain('refused');
  expect(ends.at(-1)).toBe('answered');
});
