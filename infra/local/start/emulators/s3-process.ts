import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import * as z from 'zod';
import { readJson } from '../../../../shared/core/text/read-json.ts';
import { thisHost } from '../../../../shared/host/this-host.ts';
import { CommandError } from '../../../command/command-error.ts';
import { writeDurably } from '../../batch/durable-file.ts';
import { connectionsFrom } from '../../dynamodb/handed-connections.ts';
import type { RelayOptions } from '../../dynamodb/relay.ts';
import type { Credentials } from '../data-folder.ts';

/**
 * Start the S3 server in its own process, so that hashing large uploads does not delay requests. With `relay`, the
 * process runs in the network namespace of the DynamoDB emulator and also relays to it; its own port stays in this
 * network namespace.
 */
export async function startS3Process(
  program: string,
  options: S3Options,
  relay?: RelayAddress,
): Promise<RunningS3> {
  const bound = thisHost.boundToParent(process.execPath, ['--max-semi-space-size=1', program]);
  const { file, args } = relay === undefined ? bound : relay.enter(bound.file, bound.args);
  // Use a separate session: Ctrl-C goes to the service, which stops its emulators in order.
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
  // `ended` reports the end of the server.
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
  // The channel must not keep the service running.
  child.channel?.unref();
  return {
    url,
    pid: child.pid,
    ended,
    close,
    connectToTables: relay === undefined ? undefined : connectionsFrom(child),
  };
}

interface S3Options {
  folder: string;
  /** Listen address; default the loopback address. */
  host?: string;
  /** Preferred port; 0 for any. */
  port: number;
  region: string;
  credentials: Credentials;
  buckets: readonly string[];
  /** Default none. */
  corsOrigins?: readonly string[];
}

/** Turns a process into a relay of the DynamoDB emulator. */
export interface RelayAddress {
  options: RelayOptions;
  /** Return the command that runs a program in the network namespace of the emulator. */
  enter(program: string, args: readonly string[]): { file: string; args: string[] };
}

/** The S3 server in its own process. */
interface RunningS3 {
  url: string;
  pid: number;
  /** Connect to the DynamoDB emulator, if the process runs in its network namespace. */
  connectToTables: (() => Promise<Socket>) | undefined;
  /** Resolves when the process ends for any reason. */
  ended: Promise<void>;
  close(): Promise<void>;
}

/** Make a listening socket to hand to another process. Use the given port, or any port if that one is taken. */
export async function listeningSocket(port: number, host: string): Promise<Server> {
  try {
    return await listen(port, host);
  } catch (error) {
    if (port === 0) throw error;
    return listen(0, host);
  }
}

async function listen(port: number, host: string): Promise<Server> {
  // The process that receives the socket serves. Close earlier connections, so that their clients retry.
  const server = createServer((early) => early.destroy()).listen({ port, host });
  await once(server, 'listening');
  return server;
}

const Ready = z.object({ url: z.url() });

/**
 * Start a relay of the DynamoDB emulator in its own process, for a service without an S3 server of its own.
 * Resolve before the relay listens.
 */
export function startRelayProcess(program: string, { options, enter }: RelayAddress): RunningRelay {
  const bound = thisHost.boundToParent(process.execPath, [program, JSON.stringify(options)]);
  const { file, args } = enter(bound.file, bound.args);
  const child = spawn(file, args, { stdio: ['ignore', 'ignore', 'inherit'], detached: true });
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  if (child.pid === undefined) throw new Error('the relay of the DynamoDB emulator did not start');
  return {
    pid: child.pid,
    ended,
    async close() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

interface RunningRelay {
  pid: number;
  /** Resolves when the process ends for any reason. */
  ended: Promise<void>;
  close(): Promise<void>;
}

/**
 * Start a server on the port that `file` stores, or on any port (0) the first time, and store the port that it
 * got. URLs signed before a restart remain valid after it.
 */
export async function onUsualPort<Server extends { url: string }>(
  file: string,
  start: (port: number) => Promise<Server>,
): Promise<Server> {
  const usual = (await readJson(file, Usual))?.port;
  const server = await start(usual ?? 0);
  const port = Number(new URL(server.url).port);
  if (port !== usual) await writeDurably(file, JSON.stringify({ port }));
  return server;
}

/** Start a server on this port. @throws CommandError if another program has it */
export async function onGivenPort<Server extends { url: string; close(): Promise<void> }>(
  port: number,
  start: (port: number) => Promise<Server>,
): Promise<Server> {
  const server = await start(port);
  if (new URL(server.url).port === String(port)) return server;
  await server.close();
  throw new CommandError(
    `Port ${port} of the server of files is in use. Choose another one: --s3-port <port>`,
  );
}

const Usual = z.object({ port: z.int().min(1).max(65_535) });
