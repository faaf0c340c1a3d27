import { readFile } from 'node:fs/promises';
import * as z from 'zod';
import { writeDurably } from '../batch/durable-file.ts';

const Usual = z.object({ port: z.int().min(1).max(65_535) });

async function readPort(file: string): Promise<number | undefined> {
  try {
    return Usual.parse(JSON.parse(await readFile(file, 'utf8'))).port;
  } catch {
    return undefined;
  }
}

/**
 * Starts a server on the port that `file` remembers, or on any other (0) the first time, and remembers the port that
 * it got: URLs that were signed before a restart work after it.
 */
export async function onUsualPort<Server extends { url: string }>(
  file: string,
  start: (port: number) => Promise<Server>,
): Promise<Server> {
  const usual = await readPort(file);
  const server = await start(usual ?? 0);
  const port = Number(new URL(server.url).port);
  if (port !== usual) await writeDurably(file, JSON.stringify({ port }));
  return server;
}
