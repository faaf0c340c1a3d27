import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { boundToParent } from '../bound-to-parent.ts';
import { findEngine } from './find-engine.ts';
import { waitForEngine } from './wait-for-engine.ts';

export interface RunningDynamoDb {
  url: string;
  pid: number;
  /** Resolves when the engine ends, wanted or not. */
  ended: Promise<void>;
  close(): Promise<void>;
}

/** A free port of an address. Another process may take it before the engine does, so the start is retried. */
async function freePort(host: string): Promise<number> {
  const server = createServer().listen(0, host);
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port for the DynamoDB engine');
  return address.port;
}

const startTries = 5;

/**
 * Starts the embedded DynamoDB engine on a port, with its records in `file`, or in memory without one. One process may
 * use a file at a time; the caller holds a lock on its folder. It checks no signatures, so every program that reaches
 * `host` (the loopback address unless given) may do all: only for data of tests and measurements.
 */
export async function startDynamoDb(file?: string, host = '127.0.0.1'): Promise<RunningDynamoDb> {
  const { program } = findEngine();
  for (let attempt = 0; attempt < startTries; attempt += 1) {
    const port = await freePort(host);
    const storage = file === undefined ? [] : ['--db-path', file];
    const parameters = ['serve', '--host', host, '--port', String(port), ...storage];
    const { file: command, args } = boundToParent(program, parameters);
    // A session of its own: Ctrl-C is for the service, which stops its engines in order.
    const engine = spawn(command, args, { stdio: 'ignore', detached: true });
    let isGone = false;
    const ended = new Promise<void>((resolve) => {
      engine.once('exit', () => resolve());
      engine.once('error', () => resolve());
    });
    void ended.then(() => {
      isGone = true;
    });
    if (engine.pid !== undefined && (await waitForEngine({ host, port }, () => isGone))) {
      const close = async () => {
        engine.kill('SIGTERM');
        await ended;
      };
      return { url: `http://${host}:${port}`, pid: engine.pid, ended, close };
    }
    engine.kill('SIGKILL');
    await ended;
  }
  throw new Error(`the DynamoDB engine did not start in ${startTries} tries`);
}
