import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { startClosedDynamoDb } from '../../dynamodb/closed-engine.ts';
import { startDynamoDb } from '../../dynamodb/engine.ts';
import { networkNamespaces } from '../../dynamodb/network-namespace.ts';
import { startSignedProxy } from '../../dynamodb/signed-proxy.ts';
import { type EngineAddress, waitForEngine } from '../../dynamodb/wait-for-engine.ts';
import type { Credentials } from '../data-folder.ts';
import { socketPath } from '../socket-path.ts';
import type { RelayAddress } from './s3-process.ts';

/** The embedded DynamoDB engine, out of reach for everybody but this service. */
export interface StartedTables {
  pid: number;
  /** Where the engine listens for its owner. */
  address: EngineAddress;
  /** What some process has to be before the engine can be reached; undefined where it listens in this network. */
  relay: RelayAddress | undefined;
  /** Resolves when the engine ends, wanted or not. */
  ended: Promise<void>;
  close(): Promise<void>;
}

/** Starts the engine with its records in `folder`, where the system lets it in a network of its own. */
export async function startTables(folder: string): Promise<StartedTables> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, 'records.db');
  const namespaces = await networkNamespaces();
  if (namespaces === undefined) {
    const { url, ...engine } = await startDynamoDb(file);
    const { hostname: host, port } = new URL(url);
    return { ...engine, address: { host, port: Number(port) }, relay: undefined };
  }
  const socket = await socketPath(folder);
  const engine = await startClosedDynamoDb(namespaces, file);
  return {
    ...engine,
    address: { socketPath: socket.path },
    relay: {
      options: { socket: socket.path, port: engine.port },
      enter: (program, args) => namespaces.join(engine.pid, program, args),
    },
    async close() {
      await engine.close();
      await socket.remove();
    },
  };
}

export interface TablesEndpoint {
  /** A value of `DYNAMODB_ENDPOINT`. */
  endpoint: string;
  close(): Promise<void>;
}

interface EndpointOptions {
  /** Address for those who cannot use a socket, containers say; without, the socket alone. */
  host: string | undefined;
  region: string;
  credentials: Credentials;
}

/**
 * Where clients find the engine: at its socket, or behind a proxy that checks their signatures.
 * @throws Error where the engine does not answer
 */
export async function tablesEndpoint(
  { address, ended }: StartedTables,
  { host, region, credentials }: EndpointOptions,
): Promise<TablesEndpoint> {
  let isGone = false;
  void ended.then(() => {
    isGone = true;
  });
  if (!(await waitForEngine(address, () => isGone))) throw new Error('the DynamoDB engine did not start');
  if ('socketPath' in address && host === undefined) {
    return { endpoint: `unix:${address.socketPath}`, close: async () => {} };
  }
  const { url, close } = await startSignedProxy({
    host: host ?? '127.0.0.1',
    engine: address,
    region,
    credentials,
  });
  return { endpoint: url, close };
}
