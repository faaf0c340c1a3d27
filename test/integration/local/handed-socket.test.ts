import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text as readText } from 'node:stream/consumers';
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

/** Start the S3 server as one that relays to an emulator on a port. */
const startServer = (own: { port: number; emulator: number }) =>
  startS3Process(
    program,
    {
      folder: join(folder, 's3'),
      port: own.port,
      region: 'us-east-1',
      credentials: { accessKeyId: 'LOCALKEY', secretAccessKey: 'local-secret' },
      buckets: ['one'],
    },
    {
      options: { socket: join(folder, 'relay.sock'), port: own.emulator },
      enter: (file, args) => ({ file, args: [...args] }),
    },
  );

test('the server hands out connections to the emulator in its network, or says why there are none', async () => {
  const emulator = createServer((socket) =>
    socket.once('data', (asked) => socket.end(`answer to ${asked}`)),
  ).listen(0, '127.0.0.1');
  await once(emulator, 'listening');
  const server = await startServer({
    port: 0,
    emulator: Number(Reflect.get(Object(emulator.address()), 'port')),
  });

  const sockets = await Promise.all([server.connectToTables?.(), server.connectToTables?.()]);

  const texts = sockets.map((socket, index) => socket && readText(socket.end(String(index))));
  expect(await Promise.all(texts)).toEqual(['answer to 0', 'answer to 1']);
  await new Promise((resolve) => emulator.close(resolve));
  await expect(server.connectToTables?.()).rejects.toThrow('ECONNREFUSED');
  await server.close();
  await expect(server.connectToTables?.()).rejects.toThrow();
});

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
  const server = await startServer({ port, emulator: 1 });
  visits.push(visit(port));
  isStarted = true;
  await visiting;
  const ends = await Promise.all(visits);
  await server.close();
  expect(new URL(server.url).port).toBe(String(port));
  expect(ends).toContain('refused');
  expect(ends.at(-1)).toBe('answered');
});
