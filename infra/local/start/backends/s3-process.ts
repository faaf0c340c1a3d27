import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import * as z from 'zod';
import { boundToParent } from '../../bound-to-parent.ts';
import type { RelayOptions } from '../../dynamodb/relay.ts';
import type { Credentials } from '../data-folder.ts';
import { listeningSocket } from '../listening-socket.ts';

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

/** Argument that makes a process a relay of the DynamoDB engine. */
export interface RelayAddress {
  options: RelayOptions;
  /** How to run a program in the network of the engine. */
  enter(program: string, args: readonly string[]): { file: string; args: string[] };
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

/**
 * Starts the S3 server in a process of its own, so that hashing large uploads does not hold up requests. With `relay`
 * the process is in the network of the DynamoDB engine and relays to it besides; its own port is of this network.
 */
export async function startS3Process(
  program: string,
  options: S3Options,
  relay?: RelayAddress,
): Promise<RunningEngine> {
  const bound = boundToParent(process.execPath, ['--max-semi-space-size=1', program]);
  const { file, args } = relay === undefined ? bound : relay.enter(bound.file, bound.args);
  // A session of its own: Ctrl-C is for the service, which stops its engines in order.
  const child = spawn(file, args, {
    stdio: ['pipe', 'pipe', 'inherit', ...(relay === undefined ? [] : ['ipc' as const])],
    detached: true,
  });
  const { stdin, stdout } = child;
  if (stdin === null || stdout === null) throw new TypeError('the S3 server has no pipes');
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  // The end of a server is noticed separately.
  stdin.on('error', () => {});
  stdin.write(`${JSON.stringify({ ...options, ...(relay && { relay: relay.options }) })}\n`);
  if (relay !== undefined) {
    const socket = await listeningSocket(options.port, options.host ?? '127.0.0.1');
    child.send('listener', socket, () => socket.close());
  }
  const lines = createInterface({ input: stdout });
  const line = await Promise.race([
    once(lines, 'line').then(([first]: unknown[]) => first),
    ended.then(() => undefined),
  ]);
  if (typeof line !== 'string' || child.pid === undefined) throw new Error('the S3 server did not start');
  const { url } = Ready.parse(JSON.parse(line));
  const close = async () => {
    stdin.end();
    await ended;
  };
  return { url, pid: child.pid, ended, close };
}
