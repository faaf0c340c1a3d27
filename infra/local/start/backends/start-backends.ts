import { readSettings } from '../../../../shared/core/settings.ts';
import { readRecords } from '../../../../shared/data/table/needs.ts';
import { canSandbox } from '../../../../shared/process/sandbox.ts';
import { engineCredentials, openDataFolder } from '../data-folder.ts';
import { ensureFirstAdmin, type FirstAdmin } from '../ensure-first-admin.ts';
import { type EngineAccess, engineAccess, enterFunctionEnvironment } from '../function-environment.ts';
import { type DatabaseName, openDatabases } from '../storage/databases.ts';
import { goneProjects, namesIn, removeEnvironments, removeRuns } from '../sweep-folders.ts';
import { removeForsaken } from '../work-base.ts';
import { EngineRegister } from './engine-register.ts';
import { startSchedule } from './job-event-delivery.ts';
import { type JobFolders, jobFolders } from './job-folders.ts';
import { startBatch } from './start-batch.ts';
import { startEngines } from './start-engines.ts';

export interface BackendOptions {
  dataFolder: string;
  /** Folder of the bundle. */
  program: string;
  /** Address that the engines listen on; the loopback address unless given. */
  host?: string;
  /** Whether containers are to reach the engines; false unless given. */
  forContainers?: boolean;
  corsOrigins: readonly string[];
}

/** Everything behind the functions: engines, Batch, the schedule, and an admin. */
export interface Backends {
  access: EngineAccess;
  folders: JobFolders;
  firstAdmin: FirstAdmin | undefined;
  /** Resolves with its name for people when an engine ends unasked. */
  lost: Promise<string>;
  /** The isolation that this machine lacks, in sentences for people. */
  warnings: readonly string[];
}

const noSandboxes = (): string =>
  process.getuid?.() === 0
    ? 'This system refuses namespaces (`unshare -m -p -i`), so jobs see the processes of others and share /tmp, /dev/shm and System V memory with them.'
    : 'This system refuses user namespaces (`unshare -r -m -p -i`), so every training can read the data of this service, passwords included, and end its processes.';

const openTables =
  'This system refuses network namespaces (`unshare -n`, `ip`), so every program of this machine that finds the port of the embedded DynamoDB engine can read and change all records, passwords included.';

/** Remove the environments of deleted projects from this host. */
async function sweepEnvironments(environments: string): Promise<void> {
  const records = readRecords.open({ environment: process.env, settings: readSettings(process.env) });
  for (const project_id of await goneProjects(records, environments)) {
    await removeEnvironments(environments, project_id);
  }
}

/** The databases of the engines that no variable replaces. */
const embeddedDatabases = ({ endpoints }: EngineAccess): DatabaseName[] => [
  ...(endpoints.DYNAMODB_ENDPOINT === undefined ? (['tables'] as const) : []),
  ...(endpoints.S3_ENDPOINT === undefined ? (['files'] as const) : []),
];

/**
 * Start the engines that no variable replaces, and give this process the environment of a function.
 * What was started is stopped in reverse order by `started`, also when a later part does not start.
 * @throws CommandError
 */
export async function startBackends(
  started: AsyncDisposableStack,
  { dataFolder, program, host = '127.0.0.1', forContainers = false, corsOrigins }: BackendOptions,
): Promise<Backends> {
  const data = await openDataFolder(dataFolder);
  started.defer(() => data.release());
  const register = new EngineRegister(data.within('engines.json'));
  await register.endLeftovers();

  const access = engineAccess(process.env, await engineCredentials(data));
  const databases = await openDatabases(data, embeddedDatabases(access));
  // After the engines, which are stopped before.
  started.defer(() => databases.seal());
  const engineOptions = { data, program, register, host, forContainers, corsOrigins };
  const { endpoints, lost, isOpen } = await startEngines(started, access, engineOptions);
  await databases.noteInUse();
  Object.assign(access.endpoints, endpoints);
  let isLost = false;
  void lost.then(() => {
    isLost = true;
  });
  const folders = await jobFolders(data);
  if (access.endpoints.BATCH_ENDPOINT === undefined) {
    // Events of jobs that ended meanwhile come as soon as the server runs, and find their tables by these.
    enterFunctionEnvironment(process.env, access);
    const earlier = await namesIn(folders.work);
    const batch = await startBatch({ data, program, access, folders, host, environment: process.env });
    // Without its engines no job can save anything any more.
    started.defer(() => batch.close(isLost ? { grace: 0 } : {}));
    access.endpoints.BATCH_ENDPOINT = batch.url;
    // The server has ended the attempts that a killed one left, and gives every new attempt a folder of its own.
    const sweeping = Promise.all([removeRuns(folders.work, earlier), removeForsaken()]);
    started.defer(async () => void (await sweeping));
  }
  enterFunctionEnvironment(process.env, access);
  const firstAdmin = await ensureFirstAdmin(data, process.env);
  started.defer(startSchedule(access, () => sweepEnvironments(folders.environments)));
  return {
    access,
    folders,
    firstAdmin,
    lost,
    warnings: [...(isOpen ? [openTables] : []), ...(canSandbox() ? [] : [noSandboxes()])],
  };
}
