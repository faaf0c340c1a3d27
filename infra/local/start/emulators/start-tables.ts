import { randomBytes } from 'node:crypto';
import { glob, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { networkNamespaces } from '../../dynamodb/network-namespace.ts';
import { startSignedProxy } from '../../dynamodb/signed-proxy.ts';
import {
  type EmulatorAddress,
  startClosedDynamoDb,
  startDynamoDb,
  waitForEmulator,
} from '../../dynamodb/start-dynamodb.ts';
import type { Credentials } from '../data-folder.ts';
import type { RelayAddress } from './s3-process.ts';

/** Starts the emulator with its records in `folder`, where the system lets it in a network of its own. */
export async function startTables(folder: string): Promise<StartedTables> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, 'records.db');
  const namespaces = await networkNamespaces();
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

/** The embedded DynamoDB emulator, out of reach for everybody but this service. */
interface StartedTables {
  pid: number;
  /** Where the emulator listens for its owner. */
  address: EmulatorAddress;
  /** What some process has to be before the emulator can be reached; undefined where it listens in this network. */
  relay: RelayAddress | undefined;
  /** Resolves when the emulator ends, wanted or not. */
  ended: Promise<void>;
  close(): Promise<void>;
}

/** The kernel's limit is 108 with the NUL at its end; macOS has 104. */
const longestPath = 103;

/**
 * A new path for a Unix socket: in `folder`, or where that is too long for one in a new folder of this user's alone
 * in `/tmp`, of which jobs have another one.
 * It is new so that jobs of a service that was killed do not find the emulator of the next one. Sockets that it left are
 * removed.
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
 * Where clients find the emulator: at its socket, or behind a proxy that checks their signatures.
 * @throws Error where the emulator does not answer
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
  /** Address for those who cannot use a socket, containers say; without, the socket alone. */
  host: string | undefined;
  region: string;
  credentials: Credentials;
}

interface TablesEndpoint {
  /** A value of `DYNAMODB_ENDPOINT`. */
  endpoint: string;
  close(): Promise<void>;
}
