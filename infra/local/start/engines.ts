import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { startDynamoDb } from '../dynamodb/engine.ts';
import { createTables } from '../dynamodb/tables.ts';
import type { DataFolder } from './data-folder.ts';
import {
  accountsTable,
  bucket,
  type EndpointVariable,
  type Place,
  recordsTable,
} from './function-environment.ts';
import type { EngineRegister } from './leftovers.ts';
import { type RunningEngine, startS3Process } from './s3-process.ts';
import { onUsualPort } from './usual-port.ts';

/** An engine with the variable that replaces it and its name for people. */
export interface StartedEngine extends RunningEngine {
  variable: EndpointVariable;
  title: string;
}

export interface EngineOptions {
  data: DataFolder;
  /** Folder of the bundle. */
  program: string;
  register: EngineRegister;
  /** Address that they listen on. */
  host: string;
  /** Origins whose pages may use presigned URLs. */
  corsOrigins: readonly string[];
}

async function startMissing(
  { endpoints, region, credentials }: Place,
  { data, program, host, corsOrigins }: EngineOptions,
): Promise<StartedEngine[]> {
  const starting: Promise<StartedEngine>[] = [];
  const start = async (variable: EndpointVariable, title: string, engine: Promise<RunningEngine>) => ({
    ...(await engine),
    variable,
    title,
  });
  if (endpoints.DYNAMODB_ENDPOINT === undefined) {
    // The engine makes its files readable for everybody, and jobs may pass through the data folder.
    const folder = data.within('dynamodb');
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const engine = startDynamoDb(join(folder, 'records.db'), host);
    starting.push(start('DYNAMODB_ENDPOINT', 'The DynamoDB engine', engine));
  }
  if (endpoints.S3_ENDPOINT === undefined) {
    const options = { folder: data.within('s3'), host, region, credentials, buckets: [bucket], corsOrigins };
    const file = join(program, 'infra/local/s3/main.js');
    const engine = onUsualPort(data.within('s3-port.json'), (port) =>
      startS3Process(file, { ...options, port }),
    );
    starting.push(start('S3_ENDPOINT', 'The S3 server', engine));
  }
  const settled = await Promise.allSettled(starting);
  const started = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const failed = settled.find((one) => one.status === 'rejected');
  if (failed === undefined) return started;
  await Promise.all(started.map((engine) => engine.close()));
  throw failed.reason;
}

/** Starts the engines that nobody replaced, and creates the tables that are missing. */
export async function startEngines(place: Place, options: EngineOptions): Promise<StartedEngine[]> {
  const engines = await startMissing(place, options);
  for (const { pid } of engines) await options.register.note(pid);
  const endpoint =
    place.endpoints.DYNAMODB_ENDPOINT ?? engines.find((one) => one.variable === 'DYNAMODB_ENDPOINT')?.url;
  const client = new DynamoDBClient({
    region: place.region,
    credentials: place.credentials,
    ...(endpoint !== undefined && { endpoint }),
  });
  try {
    await createTables(client, [accountsTable, recordsTable]);
  } finally {
    client.destroy();
  }
  return engines;
}
