import type { Socket } from 'node:net';
import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import * as z from 'zod';
import { dynamoDbEndpoint, socketOf } from '../../../../shared/aws/dynamodb-endpoint.ts';
import { connectDirectly } from '../../../../shared/aws/emulator-agent.ts';
import { readSettings } from '../../../../shared/core/settings.ts';
import { readJson } from '../../../../shared/core/text/read-json.ts';
import { readRecords } from '../../../../shared/data/table/needs.ts';
import { thisHost } from '../../../../shared/host/this-host.ts';
import { writeDurably } from '../../batch/durable-file.ts';
import { createTables } from '../../dynamodb/create-tables.ts';
import { findEmulator } from '../../dynamodb/find-emulator.ts';
import { probeEmulator } from '../../dynamodb/probe-emulator.ts';
import type { PublicStorage } from '../../gateway/send.ts';
import { type DataFolder, emulatorCredentials, openDataFolder } from '../data-folder.ts';
import { goneProjects, namesIn, removeEnvironments, removeRuns } from '../data-folder-cleanup.ts';
import { DataSize, sizeFile } from '../data-size.ts';
import { type DatabaseName, openDatabases } from '../databases.ts';
import { ensureFirstAdmin, type FirstAdmin } from '../ensure-first-admin.ts';
import {
  accountsTable,
  bucket,
  type EmulatorAccess,
  emulatorAccess,
  enterFunctionEnvironment,
  jobSettings,
  recordsTable,
} from '../function-environment.ts';
import { type JobFolders, jobFolders, removeForsaken } from '../job-folders.ts';
import { nearUrl, publicStorageUrl, type Reach } from '../reach.ts';
import { startSchedule } from './event-delivery.ts';
import { ProcessRegister } from './process-register.ts';
import {
  onGivenPort,
  onUsualPort,
  type RelayAddress,
  startRelayProcess,
  startS3Process,
} from './s3-process.ts';
import { startBatch } from './start-batch.ts';
import { startTables, tablesEndpoint } from './start-tables.ts';

/**
 * Start the emulators that no variable replaces, and set the environment of a function in this process.
 * `started` stops the parts in reverse order, also if a later part fails to start.
 * @throws CommandError
 */
export async function startEmulators(
  started: AsyncDisposableStack,
  {
    dataFolder,
    program,
    host = '127.0.0.1',
    forContainers = false,
    corsOrigins,
    reach,
    dataLimit,
  }: EmulatorOptions,
): Promise<Emulators> {
  const data = await openDataFolder(dataFolder);
  started.defer(() => data.release());
  const aloneSince = new Date().toISOString();
  const watched = data.reserve.watch();
  started.defer(() => watched.stop());
  const register = new ProcessRegister(data.within('engines.json'));
  await register.endLeftovers();

  const access = {
    ...emulatorAccess(process.env, await emulatorCredentials(data)),
    jobSettings: { ...(await jobSettings(process.env)), DATA_SIZE_FILE: data.within(sizeFile) },
  };
  const databases = await openDatabases(data, embeddedDatabases(access));
  // This runs after the emulators have stopped.
  started.defer(() => databases.seal());
  const storeOptions = { data, program, register, host, forContainers, corsOrigins, reach };
  const { endpoints, lost, isOpen } = await startStores(started, access, storeOptions);
  await databases.noteInUse();
  Object.assign(access.endpoints, endpoints);
  access.storage = storageOf(endpoints, reach);
  let isLost = false;
  void lost.then(() => {
    isLost = true;
  });
  const folders = await jobFolders(data);
  const size = await DataSize.of(data, folders, dataLimit);
  // The Batch server has events of jobs that have ended as soon as it runs. Their function needs its address, too.
  const { promise: ready, resolve: letEventsIn } = Promise.withResolvers<void>();
  if (access.endpoints.BATCH_ENDPOINT === undefined) {
    enterFunctionEnvironment(process.env, access);
    const earlier = await namesIn(folders.work);
    const environment = process.env;
    const batch = await startBatch({ data, program, access, folders, host, environment, size, ready });
    // Without the emulators no job can save anything, so give no grace period.
    started.defer(() => batch.close(isLost ? { grace: 0 } : {}));
    access.endpoints.BATCH_ENDPOINT = batch.url;
    // The server has ended the attempts of a killed server, and gives every new attempt its own folder.
    const removing = Promise.all([removeRuns(folders.work, earlier), removeForsaken()]);
    started.defer(async () => void (await removing));
  }
  enterFunctionEnvironment(process.env, access);
  letEventsIn();
  const firstAdmin = await ensureFirstAdmin(data, process.env);
  const sizeWatch = size.watch((text) => process.stderr.write(`WARNING: ${text}\n`));
  started.defer(() => sizeWatch.stop());
  let pass = 0;
  started.defer(
    startSchedule(access, aloneSince, () => removeGoneEnvironments(folders.environments, pass++)),
  );
  return {
    access,
    folders,
    firstAdmin,
    lost,
    isFull: () => data.reserve.isFull,
    size: size.text,
    warnings: [...(data.reserve.isFull ? [fullDisk] : []), ...(await thisHost.limitations(isOpen))],
  };
}

interface EmulatorOptions {
  dataFolder: string;
  /** Folder of the bundle. */
  program: string;
  /** Listen address of the emulators; default the loopback address. */
  host?: string;
  /** Whether containers must reach the emulators; default false. */
  forContainers?: boolean;
  corsOrigins: readonly string[];
  /** Limit of the data folder in bytes. Default: judged by the disk. */
  dataLimit?: number | undefined;
  /** Addresses for others. Default: only this machine. */
  reach?: Reach | undefined;
}

/** The backends of the functions: emulators, Batch, the schedule, and an admin. */
interface Emulators {
  access: EmulatorAccess;
  folders: JobFolders;
  firstAdmin: FirstAdmin | undefined;
  /** Resolves with the display name of an emulator that ends unexpectedly. */
  lost: Promise<string>;
  /** Whether the disk is full. Then the service accepts only requests that free space. */
  isFull: () => boolean;
  /** Size and limit of the data folder, for people. */
  size: string;
  /** Sentences for people about a full disk and about isolation that this machine lacks. */
  warnings: readonly string[];
}

/** The addresses of an S3 server that others reach by another one; undefined if they reach none, or by the same. */
function storageOf(
  { S3_ENDPOINT: url }: EmulatorAccess['endpoints'],
  reach?: Reach,
): PublicStorage | undefined {
  const publicUrl = reach && url && publicStorageUrl(reach, url);
  return url && publicUrl && publicUrl !== url ? { url, publicUrl } : undefined;
}

/** The databases of the emulators that no variable replaces. */
const embeddedDatabases = ({ endpoints }: EmulatorAccess): DatabaseName[] => [
  ...(endpoints.DYNAMODB_ENDPOINT === undefined ? (['tables'] as const) : []),
  ...(endpoints.S3_ENDPOINT === undefined ? (['files'] as const) : []),
];

const fullDisk =
  'The disk is full, so this service only reads, deletes and cancels. Delete experiments, models or projects.';

/** Origins of the service's own pages, on any local port. */
const ownOrigins = ['http://127.0.0.1:*', 'http://localhost:*'];

/** Start the emulators that no variable replaces, and create missing tables; `started` stops them. */
async function startStores(
  started: AsyncDisposableStack,
  access: EmulatorAccess,
  { data, program, register, host, forContainers, corsOrigins, reach }: StoreOptions,
): Promise<StartedStores> {
  const { region, credentials } = access;
  const endpoints: EmulatorAccess['endpoints'] = {};
  const ends: Promise<string>[] = [];
  const keep = async <Running extends RunningProcess>(title: string, running: Running): Promise<Running> => {
    started.defer(() => running.close());
    ends.push(running.ended.then(() => title));
    await register.note(running.pid);
    return running;
  };

  const isEmbedded = access.endpoints.DYNAMODB_ENDPOINT === undefined;
  const tables = isEmbedded
    ? await keep('The DynamoDB emulator', await startTables(data.within('dynamodb')))
    : undefined;
  let connectToTables: (() => Promise<Socket>) | undefined;
  if (access.endpoints.S3_ENDPOINT === undefined) {
    const s3 = await keep('The S3 server', await startS3(tables?.relay));
    endpoints.S3_ENDPOINT = nearUrl(s3.url);
    connectToTables = s3.connectToTables;
  } else if (tables?.relay !== undefined) {
    const file = join(program, 'infra/local/dynamodb/relay-main.js');
    await keep('The relay of the DynamoDB emulator', startRelayProcess(file, tables.relay));
  }
  if (tables !== undefined) {
    const options = { host: forContainers ? host : undefined, region, credentials };
    const { endpoint, close } = await tablesEndpoint(tables, options);
    started.defer(close);
    endpoints.DYNAMODB_ENDPOINT = endpoint;
    const socketPath = socketOf(endpoint);
    if (connectToTables !== undefined && socketPath !== undefined) {
      started.defer(connectDirectly(socketPath, connectToTables));
    }
  }
  await prepareTables({ ...access, endpoints: { ...access.endpoints, ...endpoints } }, data, isEmbedded);
  const isOpen = tables !== undefined && tables.relay === undefined;
  return { endpoints, lost: ends.length === 0 ? new Promise(() => {}) : Promise.race(ends), isOpen };

  function startS3(relay: RelayAddress | undefined) {
    const options = {
      folder: data.within('s3'),
      host: reach?.host ?? host,
      region,
      credentials,
      buckets: [bucket],
      corsOrigins: [...corsOrigins, ...ownOrigins, ...(reach?.publicUrl ? [reach.publicUrl.origin] : [])],
    };
    const file = join(program, 'infra/local/s3/main.js');
    const start = (port: number) => startS3Process(file, { ...options, port }, relay);
    if (reach?.s3Port !== undefined) return onGivenPort(reach.s3Port, start);
    return onUsualPort(data.within('s3-port.json'), start);
  }
}

interface StoreOptions {
  data: DataFolder;
  /** Folder of the bundle. */
  program: string;
  register: ProcessRegister;
  /** Listen address. */
  host: string;
  /** Whether containers must reach the emulators. Containers cannot use Unix sockets of this machine. */
  forContainers: boolean;
  /** Origins whose pages may use presigned URLs. */
  corsOrigins: readonly string[];
  reach: Reach | undefined;
}

interface StartedStores {
  /** Endpoints of the emulators that this run started. */
  endpoints: EmulatorAccess['endpoints'];
  /** Resolves with the display name of an emulator that ends. */
  lost: Promise<string>;
  /** Whether programs of this machine can reach the tables without credentials. */
  isOpen: boolean;
}

interface RunningProcess {
  pid: number;
  ended: Promise<void>;
  close(): Promise<void>;
}

/** The emulator that was probed with this data folder. */
const ProbedEmulator = z.object({ engine: z.string() });

/** Create missing tables. Probe the emulator first if this data folder has not used it before. */
async function prepareTables(
  { region, credentials, endpoints }: EmulatorAccess,
  data: DataFolder,
  isEmbedded: boolean,
): Promise<void> {
  const { DYNAMODB_ENDPOINT: endpoint } = endpoints;
  const client = new DynamoDBClient({ region, credentials, ...dynamoDbEndpoint(endpoint) });
  const engine = isEmbedded ? findEmulator().name : `at ${endpoint}`;
  const file = data.within('probed-engine.json');
  try {
    if ((await readJson(file, ProbedEmulator))?.engine !== engine) {
      await probeEmulator(client, engine);
      await writeDurably(file, JSON.stringify({ engine }));
    }
    await createTables(client, [accountsTable, recordsTable]);
  } finally {
    client.destroy();
  }
}

/** Remove the environments of deleted projects from this host. */
async function removeGoneEnvironments(environments: string, pass: number): Promise<void> {
  const records = readRecords.open({ environment: process.env, settings: readSettings(process.env) });
  for (const project_id of await goneProjects(records, environments, pass)) {
    await removeEnvironments(environments, project_id);
  }
}
