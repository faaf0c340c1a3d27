import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import * as z from 'zod';
import { dynamoDbEndpoint } from '../../../../shared/aws/dynamodb-endpoint.ts';
import { writeDurably } from '../../batch/durable-file.ts';
import { createTables } from '../../dynamodb/create-tables.ts';
import { findEngine } from '../../dynamodb/find-engine.ts';
import { probeEngine } from '../../dynamodb/probe-engine.ts';
import { type DataFolder, readJson } from '../data-folder.ts';
import { accountsTable, bucket, type EngineAccess, recordsTable } from '../function-environment.ts';
import { onUsualPort } from '../usual-port.ts';
import type { EngineRegister } from './engine-register.ts';
import { startRelayProcess } from './relay-process.ts';
import { type RelayAddress, startS3Process } from './s3-process.ts';
import { startTables, tablesEndpoint } from './start-tables.ts';

export interface EngineOptions {
  data: DataFolder;
  /** Folder of the bundle. */
  program: string;
  register: EngineRegister;
  /** Address that they listen on. */
  host: string;
  /** Whether containers are to reach them, which can use no socket of this machine. */
  forContainers: boolean;
  /** Origins whose pages may use presigned URLs. */
  corsOrigins: readonly string[];
}

/** The engine that has been tried with this data folder. */
const ProbedEngine = z.object({ engine: z.string() });

/** The engines that run. */
export interface StartedEngines {
  /** Where those are that were started. */
  endpoints: EngineAccess['endpoints'];
  /** Resolves with its name for people when one ends. */
  lost: Promise<string>;
  /** Whether programs of this machine can reach the tables without credentials. */
  isOpen: boolean;
}

interface RunningProcess {
  pid: number;
  ended: Promise<void>;
  close(): Promise<void>;
}

/** Origins of the service's own pages, on any port of this machine. */
const ownOrigins = ['http://127.0.0.1:*', 'http://localhost:*'];

/** Start the engines that no variable replaces, and create missing tables; `started` stops them. */
export async function startEngines(
  started: AsyncDisposableStack,
  access: EngineAccess,
  { data, program, register, host, forContainers, corsOrigins }: EngineOptions,
): Promise<StartedEngines> {
  const { region, credentials } = access;
  const endpoints: EngineAccess['endpoints'] = {};
  const ends: Promise<string>[] = [];
  const keep = async <Running extends RunningProcess>(title: string, running: Running): Promise<Running> => {
    started.defer(() => running.close());
    ends.push(running.ended.then(() => title));
    await register.note(running.pid);
    return running;
  };

  const isEmbedded = access.endpoints.DYNAMODB_ENDPOINT === undefined;
  const tables = isEmbedded
    ? await keep('The DynamoDB engine', await startTables(data.within('dynamodb')))
    : undefined;
  if (access.endpoints.S3_ENDPOINT === undefined) {
    const s3 = await keep('The S3 server', await startS3(tables?.relay));
    endpoints.S3_ENDPOINT = s3.url;
  } else if (tables?.relay !== undefined) {
    const file = join(program, 'infra/local/dynamodb/relay-main.js');
    await keep('The relay of the DynamoDB engine', startRelayProcess(file, tables.relay));
  }
  if (tables !== undefined) {
    const options = { host: forContainers ? host : undefined, region, credentials };
    const { endpoint, close } = await tablesEndpoint(tables, options);
    started.defer(close);
    endpoints.DYNAMODB_ENDPOINT = endpoint;
  }
  await prepareTables({ ...access, endpoints: { ...access.endpoints, ...endpoints } }, data, isEmbedded);
  const isOpen = tables !== undefined && tables.relay === undefined;
  return { endpoints, lost: ends.length === 0 ? new Promise(() => {}) : Promise.race(ends), isOpen };

  function startS3(relay: RelayAddress | undefined) {
    const options = {
      folder: data.within('s3'),
      host,
      region,
      credentials,
      buckets: [bucket],
      corsOrigins: [...corsOrigins, ...ownOrigins],
    };
    const file = join(program, 'infra/local/s3/main.js');
    return onUsualPort(data.within('s3-port.json'), (port) =>
      startS3Process(file, { ...options, port }, relay),
    );
  }
}

/** Create missing tables, after a trial of the engine if this data folder has not been with it before. */
async function prepareTables(
  { region, credentials, endpoints }: EngineAccess,
  data: DataFolder,
  isEmbedded: boolean,
): Promise<void> {
  const { DYNAMODB_ENDPOINT: endpoint } = endpoints;
  const client = new DynamoDBClient({ region, credentials, ...dynamoDbEndpoint(endpoint) });
  const engine = isEmbedded ? findEngine().name : `at ${endpoint}`;
  const file = data.within('probed-engine.json');
  try {
    if ((await readJson(file, ProbedEngine))?.engine !== engine) {
      await probeEngine(client, engine);
      await writeDurably(file, JSON.stringify({ engine }));
    }
    await createTables(client, [accountsTable, recordsTable]);
  } finally {
    client.destroy();
  }
}
