import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { get } from 'node:http';
import { createServer } from 'node:net';
import type { NetworkNamespaces } from '../../../shared/host/host.ts';
import { thisHost } from '../../../shared/host/this-host.ts';
import { findEmulator } from './find-emulator.ts';

/**
 * Start the embedded DynamoDB emulator on a port, with its records in `file`, or in memory without a file. Only
 * one process may use a file at a time; the caller holds a lock on its folder. The emulator checks no signatures,
 * so every program that reaches `host` (default the loopback address) has full access. Use it only for test and
 * measurement data.
 */
export async function startDynamoDb(file?: string, host = '127.0.0.1'): Promise<RunningDynamoDb> {
  const { program } = findEmulator();
  for (let attempt = 0; attempt < startTries; attempt += 1) {
    const port = await freePort(host);
    const storage = file === undefined ? [] : ['--db-path', file];
    const parameters = ['serve', '--host', host, '--port', String(port), ...storage];
    const { file: command, args } = thisHost.boundToParent(program, parameters);
    // Use a separate session: Ctrl-C goes to the service, which stops its emulators in order.
    const emulator = spawn(command, args, { stdio: 'ignore', detached: true });
    const release = thisHost.endWithThisProcess(emulator);
    let isGone = false;
    const ended = new Promise<void>((resolve) => {
      emulator.once('exit', () => resolve());
      emulator.once('error', () => resolve());
    });
    void ended.then(() => {
      isGone = true;
      release();
    });
    if (emulator.pid !== undefined && (await waitForEmulator({ host, port }, () => isGone))) {
      const close = async () => {
        emulator.kill('SIGTERM');
        await ended;
      };
      return { url: `http://${host}:${port}`, pid: emulator.pid, ended, close };
    }
    emulator.kill('SIGKILL');
    await ended;
  }
  throw new Error(`the DynamoDB emulator did not start in ${startTries} tries`);
}

export interface RunningDynamoDb {
  url: string;
  pid: number;
  /** Resolves when the emulator ends for any reason. */
  ended: Promise<void>;
  close(): Promise<void>;
}

const startTries = 5;

/** This port is free in every new network namespace. */
const port = 8000;

/**
 * Return a free port of an address. Another process may take it before the emulator does, so the start is retried.
 */
async function freePort(host: string): Promise<number> {
  const server = createServer().listen(0, host);
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port for the DynamoDB emulator');
  return address.port;
}

const tries = 500;

const pauseMs = 10;

/** Wait some seconds for an emulator to respond. Return false if it does not, or if `isGone` reports its end. */
export async function waitForEmulator(address: EmulatorAddress, isGone: () => boolean): Promise<boolean> {
  for (let attempt = 0; attempt < tries && !isGone(); attempt += 1) {
    if (await answersOnce(address)) return true;
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
  return false;
}

/** Address of an emulator: a host with a port, or a Unix socket. */
export type EmulatorAddress = { host: string; port: number } | { socketPath: string };

/** Use Node's own HTTP client, because the one behind fetch takes 16 MB. */
function answersOnce(address: EmulatorAddress): Promise<boolean> {
  return new Promise((resolve) => {
    get({ ...address, path: '/', agent: false }, (response) => {
      response.resume();
      resolve(true);
    }).on('error', () => resolve(false));
  });
}

/**
 * Start the embedded DynamoDB emulator in its own network namespace, with its records in `file`. Only processes in
 * that namespace can reach its port. Resolve before it responds.
 */
export async function startClosedDynamoDb(
  namespaces: NetworkNamespaces,
  file: string,
): Promise<ClosedDynamoDb> {
  const parameters = ['serve', '--host', '127.0.0.1', '--port', String(port), '--db-path', file];
  const bound = thisHost.boundToParent(findEmulator().program, parameters);
  const { file: command, args } = namespaces.create(bound.file, bound.args);
  // Use a separate session: Ctrl-C goes to the service, which stops its emulators in order.
  const emulator = spawn(command, args, { stdio: 'ignore', detached: true });
  const ended = new Promise<void>((resolve) => {
    emulator.once('exit', () => resolve());
    emulator.once('error', () => resolve());
  });
  const { pid } = emulator;
  if (pid === undefined) throw new Error('the DynamoDB emulator did not start');
  await Promise.race([namespaces.entered(pid), ended]);
  return {
    pid,
    port,
    ended,
    async close() {
      emulator.kill('SIGTERM');
      await ended;
    },
  };
}

interface ClosedDynamoDb {
  pid: number;
  /** Port in its own network namespace. */
  port: number;
  /** Resolves when the emulator ends for any reason. */
  ended: Promise<void>;
  close(): Promise<void>;
}
