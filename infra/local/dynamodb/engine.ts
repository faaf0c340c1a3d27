import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { get } from 'node:http';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { boundToParent } from '../bound-to-parent.ts';

export interface RunningDynamoDb {
  url: string;
  pid: number;
  /** Resolves when the engine ends, wanted or not. */
  ended: Promise<void>;
  close(): Promise<void>;
}

/** The embedded engine's program; undefined on platforms that it does not serve. */
function findEngine(): string | undefined {
  try {
    return createRequire(import.meta.url).resolve(`@dynoxide/${process.platform}-${process.arch}/dynoxide`);
  } catch {
    return undefined;
  }
}

/** A free port of an address. Somebody may take it before the engine does, so starting is tried again. */
async function freePort(host: string): Promise<number> {
  const server = createServer().listen(0, host);
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port for the DynamoDB engine');
  return address.port;
}

/** Whether anything answers there; with node's own client, because the one behind fetch takes 16 MB. */
function answersOnce(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    get(url, (response) => {
      response.resume();
      resolve(true);
    }).on('error', () => resolve(false));
  });
}

async function answers(url: string, engine: ChildProcess): Promise<boolean> {
  for (
    let attempt = 0;
    attempt < 500 && engine.exitCode === null && engine.signalCode === null;
    attempt += 1
  ) {
    if (await answersOnce(url)) return true;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return false;
}

const startTries = 5;

/**
 * Starts the embedded DynamoDB engine, with its records in `file`, or in memory without one. One process may use a
 * file at a time; the caller holds a lock on its folder. It checks no signatures, so whoever reaches `host` may do all:
 * the loopback address unless given.
 */
export async function startDynamoDb(file?: string, host = '127.0.0.1'): Promise<RunningDynamoDb> {
  const program = findEngine();
  if (program === undefined) {
    throw new Error(
      `There is no embedded DynamoDB engine for ${process.platform}-${process.arch}. Run another one (Amazon's DynamoDB Local, say) and name it in DYNAMODB_ENDPOINT.`,
    );
  }
  for (let attempt = 0; attempt < startTries; attempt += 1) {
    const port = await freePort(host);
    const url = `http://${host}:${port}`;
    const storage = file === undefined ? [] : ['--db-path', file];
    const parameters = ['serve', '--host', host, '--port', String(port), ...storage];
    const { file: command, args } = boundToParent(program, parameters);
    // A session of its own: Ctrl-C is for the service, which stops its engines in order.
    const engine = spawn(command, args, { stdio: 'ignore', detached: true });
    const ended = new Promise<void>((resolve) => {
      engine.once('exit', () => resolve());
      engine.once('error', () => resolve());
    });
    if (engine.pid !== undefined && (await answers(url, engine))) {
      const close = async () => {
        engine.kill('SIGTERM');
        await ended;
      };
      return { url, pid: engine.pid, ended, close };
    }
    engine.kill('SIGKILL');
    await ended;
  }
  throw new Error(`the DynamoDB engine did not start in ${startTries} tries`);
}
