import { isAbsolute, join } from 'node:path';
import { lambda } from '../../../shared/http/pipeline/lambda.ts';
import { findExecutable } from '../../../shared/process/executable.ts';
import { killTree } from '../../../shared/process/process-tree.ts';
import { CommandError } from '../../command/command-error.ts';
import { runMain } from '../../command/run-main.ts';
import { type LoadedEndpoint, loadBundledEndpoints } from '../../service/endpoints.ts';
import { endpointEnvironment } from '../access/local-roles.ts';
import { writeDurably } from '../batch/durable-file.ts';
import { type RunningGateway, type ServedEndpoint, startGateway } from '../gateway/gateway-server.ts';
import { startEmulators } from './emulators/start-emulators.ts';
import { keptPasswordFile } from './ensure-first-admin.ts';
import type { EmulatorAccess } from './function-environment.ts';
import { greeting } from './greeting.ts';
import { HeapRoom } from './heap-room.ts';
import { nearUrl, reachWarnings } from './reach.ts';
import {
  checkSettings,
  readAnonymousTimes,
  readBodyBytes,
  readLimits,
  readOptions,
  readOrigins,
} from './start-options.ts';

/** `npm start`: run the whole service on this machine. */
export async function main(args: readonly string[], installation: Installation): Promise<never> {
  // The reader of the output may close it. Keep the service running.
  process.stdout.on('error', () => {});
  return runMain(() => serve(args, installation));
}

/** Absolute paths of the service. */
interface Installation {
  /** Folder of the running bundle. */
  program: string;
  /** Folder of its sources; undefined in the image of the service. */
  checkout: string | undefined;
}

/** Serve until a stop signal, or until an emulator ends. Return the exit code. */
async function serve(args: readonly string[], { program, checkout }: Installation): Promise<number> {
  const stopping = stopRequested();
  // Without /proc, Node knows only the name by which it was called.
  if (!isAbsolute(process.execPath)) process.execPath = await pathOf(process.execPath);
  // Stop started parts in reverse order, also if a later part fails to start.
  await using started = new AsyncDisposableStack();
  const { port, dataFolder, dataLimit, reach, variables } = readOptions(args, process.env);
  Object.assign(process.env, variables);
  checkSettings(process.env);
  const [limits, corsOrigins] = [readLimits(process.env), readOrigins(process.env)];
  const bodyBytes = readBodyBytes(process.env);
  const anonymousTimes = readAnonymousTimes(process.env);
  process.env['SERVING_PROGRAM'] = join(program, 'shared/serving/sessions/session-program.js');
  const loading = loadBundledEndpoints(program);
  // Nothing awaits this promise if another part fails to start.
  loading.catch(() => {});
  const { access, folders, firstAdmin, lost, isFull, size, warnings } = await startEmulators(started, {
    dataFolder,
    dataLimit,
    program,
    corsOrigins,
    reach,
  });
  const endpoints = (await loading).map((loaded) => inRole(loaded, access));
  const heap = new HeapRoom();
  const gateway = await listen({
    endpoints,
    port,
    limits,
    bodyBytes,
    anonymousTimes,
    corsOrigins,
    isFull,
    onRequest: () => heap.note(),
    host: reach.host,
    ...(reach.publicUrl && { allowedHosts: [reach.publicUrl.hostname] }),
    storage: access.storage,
    // Whoever gets an answer may rely on both.
    onOpen: async (url) => {
      process.env[urlVariable] = reach.publicUrl?.origin ?? nearUrl(url);
      // The `mps` command of this checkout finds the service by this file, whatever its port.
      await writeDurably(
        join(dataFolder, 'service.json'),
        JSON.stringify({ url: nearUrl(url), pid: process.pid }),
      );
    },
  });
  started.defer(() => gateway.close());
  process.stdout.write(
    greeting({
      url: reach.publicUrl?.origin ?? gateway.url,
      listening: nearUrl(gateway.url),
      dataFolder,
      size,
      checkout,
      hasDocs: endpoints.some(({ endpoint }) => endpoint.path === '/docs'),
      firstAdmin,
      passwordFile: await keptPasswordFile(dataFolder),
      warnings: [...warnings, ...reachWarnings(reach)],
      jobsElsewhere: folders.work.startsWith(dataFolder) ? undefined : folders.work,
    }),
  );
  const title = await Promise.race([stopping, lost]);
  if (title !== undefined) {
    process.stderr.write(
      `${title} ended unexpectedly, so the service ends at once. Start it again: no data is lost, and jobs that ran begin another attempt.\n`,
    );
    endWithin(lostMilliseconds);
    return 1;
  }
  process.stderr.write('Stopping. Running jobs get time to save. Press Ctrl-C again to stop at once.\n');
  return 0;
}

/** Time in which the parts of a service may end that has lost one of them. What they wait for may never come. */
const lostMilliseconds = 2_000;

/** End this process and all its children after this time, unless it has ended before. */
function endWithin(milliseconds: number): void {
  const end = () => process.exit(1);
  setTimeout(() => {
    setTimeout(end, killMilliseconds);
    void killTree({ root: process.pid }).finally(end);
  }, milliseconds).unref();
}

/** Time to find and kill children. They also end with this process. */
const killMilliseconds = 500;

/** Return the path of a program in PATH, or its name if it is not there. */
async function pathOf(name: string): Promise<string> {
  const executable = await findExecutable(name, {
    cwd: process.cwd(),
    env: { PATH: process.env['PATH'] ?? '' },
  });
  return 'path' in executable ? executable.path : name;
}

/**
 * The terminal sends Ctrl-C to all processes, and npm forwards it once more. A signal within this time is the same
 * request.
 */
const sameRequestMilliseconds = 500;

/**
 * Resolve at the first Ctrl-C, SIGTERM or SIGHUP. At the next one, end the process and all its children at once.
 */
function stopRequested(): Promise<void> {
  return new Promise((resolve) => {
    let first: number | undefined;
    const request = () => {
      first ??= performance.now();
      resolve();
      if (performance.now() - first < sameRequestMilliseconds) return;
      void killTree({ root: process.pid }).finally(() => process.exit(130));
    };
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, request);
  });
}

/** Run the function of an endpoint in its own role. */
function inRole(loaded: LoadedEndpoint, { credentials, hasRoles }: EmulatorAccess): ServedEndpoint {
  const { endpoint } = loaded;
  const environment = hasRoles ? endpointEnvironment(endpoint, process.env, credentials) : process.env;
  // The port may only be known once the gateway listens.
  const known = { enumerable: true, get: () => process.env[urlVariable] };
  return {
    ...loaded,
    handler: lambda(endpoint, Object.defineProperty({ ...environment }, urlVariable, known)),
  };
}

/** Variable with the URL of the service. */
const urlVariable = 'SERVICE_URL';

async function listen(options: Parameters<typeof startGateway>[0]): Promise<RunningGateway> {
  try {
    return await startGateway(options);
  } catch (error) {
    const isOfPort = error instanceof Error && 'syscall' in error && error.syscall === 'listen';
    const code = isOfPort && 'code' in error ? error.code : undefined;
    if (code === 'EADDRINUSE') {
      throw new CommandError(
        `Port ${options.port} is in use. Choose another one: npm start -- --port <port>`,
      );
    }
    if (code === 'EACCES') {
      throw new CommandError(
        `Port ${options.port} needs more rights. Choose another one: npm start -- --port <port>`,
      );
    }
    throw error;
  }
}
