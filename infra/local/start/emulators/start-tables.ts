import { randomBytes } from 'node:crypto';
import { glob, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { thisHost } from '../../../../shared/host/this-host.ts';
import { startSignedProxy } from '../../dynamodb/signed-proxy.ts';
import {
  type EmulatorAddress,
  startClosedDynamoDb,
  startDynamoDb,
  waitForEmulator,
} from '../../dynamodb/start-dynamodb.ts';
import type { Credentials } from '../data-folder.ts';
import type { RelayAddress } from './s3-process.ts';

/**
 * Start the emulator with its records in `folder`. If the system allows it, run it in its own network namespace.
 */
export async function startTables(folder: string): Promise<StartedTables> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, 'records.db');
  const namespaces = await thisHost.networkNamespaces();
  if (namespaces === undefined) {
    const { url, ...emulator } = await startDynamoDb(file);
    const { hostname: host, port } = new URL(url);
    return { ...emulator, address: { host, port: Number(port) }, relay: undefined };
  }
  const socket = await socketPath(folder);
  const emulator = await startClosedDynamoDb(namespaces, file);
  return {
    ...emulator,
    address: { socketPath: socket.path },
    relay: {
      options: { socket: socket.path, port: emulator.port },
      enter: (program, args) => namespaces.join(emulator.pid, program, args),
    },
    async close() {
      await emulator.close();
      await socket.remove();
    },
  };
}

/** The embedded DynamoDB emulator. Only this service can reach it. */
interface StartedTables {
  pid: number;
  /** Address for the process that owns the emulator. */
  address: EmulatorAddress;
  /**
   * The relay that another process must run to make the emulator reachable; undefined if it listens in this
   * network.
   */
  relay: RelayAddress | undefined;
  /** Resolves when the emulator ends for any reason. */
  ended: Promise<void>;
  close(): Promise<void>;
}

/** Longest path of a Unix socket in bytes. Linux allows 108 with the final NUL, macOS 104. */
const longestPath = 103;

/**
 * Return a new path for a Unix socket. It lies in `folder`. If that path is too long, it lies in a new private
 * folder in `/tmp`; jobs have a different `/tmp`. The path is new, so that jobs of a killed service do not find
 * the emulator of the next one. Remove the sockets of the killed service.
 */
async function socketPath(folder: string): Promise<SocketPath> {
  for await (const left of glob('socket-*', { cwd: folder })) await rm(join(folder, left), { force: true });
  const path = join(folder, `socket-${randomBytes(4).toString('hex')}`);
  if (Buffer.byteLength(path) <= longestPath) return { path, remove: () => rm(path, { force: true }) };
  const short = await mkdtemp('/tmp/model-project-service-');
  return { path: join(short, 'socket'), remove: () => rm(short, { recursive: true, force: true }) };
}

interface SocketPath {
  path: string;
  remove(): Promise<void>;
}

/**
 * Return the endpoint of the emulator: its socket, or a proxy that checks signatures.
 * @throws Error if the emulator does not answer
 */
export async function tablesEndpoint(
  { address, ended }: StartedTables,
  { host, region, credentials }: EndpointOptions,
): Promise<TablesEndpoint> {
  let isGone = false;
  void ended.then(() => {
    isGone = true;
  });
  if (!(await waitForEmulator(address, () => isGone))) throw new Error('the DynamoDB emulator did not start');
  if ('socketPath' in address && host === undefined) {
    return { endpoint: `unix:${address.socketPath}`, close: async () => {} };
  }
  const { url, close } = await startSignedProxy({
    host: host ?? '127.0.0.1',
    emulator: address,
    region,
    credentials,
  });
  return { endpoint: url, close };
}

interface EndpointOptions {
  /**
   * Listen address for clients that cannot use a socket, for example containers. If undefined, offer only the
   * socket.
   */
  host: string | undefined;
  region: string;
  credentials: Credentials;
}

interface TablesEndpoint {
  /** A value of `DYNAMODB_ENDPOINT`. */
  endpoint: string;
  close(): Promise<void>;
}
