import { Server, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import * as z from 'zod';
import { handOutConnections } from '../dynamodb/handed-connections.ts';
import { RelayOptions, startRelay } from '../dynamodb/relay.ts';
import { startS3Server } from './s3-server.ts';

/** Read the options from one line on stdin, so that no process list shows the secret. Stop when stdin ends. */
async function main(): Promise<void> {
  const listening = process.connected ? handedListener() : undefined;
  const lines = createInterface({ input: process.stdin });
  const ended = new Promise<void>((resolve) => {
    lines.once('close', resolve);
    process.once('SIGTERM', resolve);
    process.once('SIGINT', resolve);
  });
  const first = await Promise.race([
    new Promise<string>((resolve) => lines.once('line', resolve)),
    ended.then(() => undefined),
  ]);
  if (first === undefined) return;
  const { relay, ...options } = Options.parse(JSON.parse(first));
  const stopRelay = relay === undefined ? undefined : await startRelay(relay);
  if (relay !== undefined) handOutConnections(relay.port);
  const listener = await listening;
  const server = await startS3Server({ ...options, ...(listener !== undefined && { listener }) });
  process.stdout.write(`${JSON.stringify({ url: server.url })}\n`);
  await ended;
  await server.close();
  await stopRelay?.();
}

/** Receive the listening socket, which the parent process made in its own network namespace. */
function handedListener(): Promise<Server> {
  return new Promise((resolve, reject) => {
    process.once('message', (_, handle) => {
      if (!(handle instanceof Server)) return reject(new TypeError('there is no listening socket'));
      // The socket accepts connections from now on, and they would wait forever. Close early ones, so that clients
      // retry.
      handle.on('connection', (early: Socket) => early.destroy());
      resolve(handle);
    });
  });
}

const Options = z.strictObject({
  folder: z.string().min(1),
  port: z.int().min(0).max(65_535),
  host: z.string().min(1).default('127.0.0.1'),
  region: z.string().min(1),
  // Not strict: the AWS SDK adds a field of its own to credentials objects.
  credentials: z.object({ accessKeyId: z.string().min(1), secretAccessKey: z.string().min(1) }),
  buckets: z.array(z.string().min(1)),
  corsOrigins: z.array(z.string().min(1)).default([]),
  /** Set if this process runs in the network namespace of the DynamoDB emulator, and also relays to it. */
  relay: RelayOptions.optional(),
});

try {
  await main();
  process.exit(0);
} catch (error) {
  process.stderr.write(`s3: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
