import { createInterface } from 'node:readline';
import * as z from 'zod';
import { startS3Server } from './server.ts';

const Options = z.strictObject({
  folder: z.string().min(1),
  port: z.int().min(0).max(65_535),
  host: z.string().min(1).default('127.0.0.1'),
  region: z.string().min(1),
  // Not strict: the AWS SDK marks credentials objects it is given with a field of its own.
  credentials: z.object({ accessKeyId: z.string().min(1), secretAccessKey: z.string().min(1) }),
  buckets: z.array(z.string().min(1)),
  corsOrigins: z.array(z.string().min(1)).default([]),
});

/** Options arrive as one line on stdin, so that the secret shows in no process list; its end means to stop. */
async function main(): Promise<void> {
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
  const server = await startS3Server(Options.parse(JSON.parse(first)));
  process.stdout.write(`${JSON.stringify({ url: server.url })}\n`);
  await ended;
  await server.close();
}

try {
  await main();
  process.exit(0);
} catch (error) {
  process.stderr.write(`s3: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
