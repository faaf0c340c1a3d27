import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import * as z from 'zod';
import { boundToParent } from '../bound-to-parent.ts';
import type { Credentials } from './data-folder.ts';

export interface S3Options {
  folder: string;
  /** Address that it listens on; the loopback address unless given. */
  host?: string;
  /** The port that it would like; 0 for any. */
  port: number;
  region: string;
  credentials: Credentials;
  buckets: readonly string[];
  /** Default none. */
  corsOrigins?: readonly string[];
}

/** An engine that runs as a process of its own. */
export interface RunningEngine {
  url: string;
  pid: number;
  /** Resolves when the process ends, wanted or not. */
  ended: Promise<void>;
  close(): Promise<void>;
}

const Ready = z.object({ url: z.url() });

/** Starts the S3 server in a process of its own, so that hashing large uploads does not hold up requests. */
export async function startS3Process(program: string, options: S3Options): Promise<RunningEngine> {
  const { file, args } = boundToParent(process.execPath, ['--max-semi-space-size=1', program]);
  // A session of its own: Ctrl-C is for the service, which stops its engines in order.
  const child = spawn(file, args, { stdio: ['pipe', 'pipe', 'inherit'], detached: true });
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  // A server that is gone already says so by its end.
  child.stdin.on('error', () => {});
  child.stdin.write(`${JSON.stringify(options)}\n`);
  const lines = createInterface({ input: child.stdout });
  const line = await Promise.race([
    once(lines, 'line').then(([first]: unknown[]) => first),
    ended.then(() => undefined),
  ]);
  if (typeof line !== 'string' || child.pid === undefined) throw new Error('the S3 server did not start');
  const { url } = Ready.parse(JSON.parse(line));
  const close = async () => {
    child.stdin.end();
    await ended;
  };
  return { url, pid: child.pid, ended, close };
}
