import { Server, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import * as z from 'zod';
import { RelayOptions, startRelay } from '../dynamodb/relay.ts';
import { startS3Server } from './s3-server.ts';

/** Options arrive as one line on stdin, so that the secret shows in no process list; its end means to stop. */
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
  const listener = await listening;
  const server = await startS3Server({ ...options, ...(listener !== undefined && { listener }) });
  process.stdout.write(`${JSON.stringify({ url: server.url })}\n`);
  await ended;
  await server.close();
  await stopRelay?.();
}

/** The socket that listens for this process, made by the one that started it in its own network. */
function handedListener(): Promise<Server> {
  return new Promise((resolve, reject) => {
    process.once('message', (_, handle) => {
      process.disconnect();
      if (!(handle instanceof Server)) return reject(new TypeError('there is no listening socket'));
      // It accepts connections from now on, which would wait for ever: whoever comes too early comes again.
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
  // Not strict: the AWS SDK marks credentials objects it is given with a field of its own.
  credentials: z.object({ accessKeyId: z.string().min(1), secretAccessKey: z.string().min(1) }),
  buckets: z.array(z.string().min(1)),
  corsOrigins: z.array(z.string().min(1)).default([]),
  /** This process is in the network of the DynamoDB emulator, and serves it to its owner besides. */
  relay: RelayOptions.optional(),
});

try {
  await main();
  process.exit(0);
} catch (error) {
  process.stderr.write(`s3: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
