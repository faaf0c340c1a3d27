import { join } from 'node:path';
import { lambda } from '../../../shared/http/pipeline/lambda.ts';
import { killTree } from '../../../shared/process/process-tree.ts';
import { CommandError } from '../../command/command-error.ts';
import { runMain } from '../../command/run-main.ts';
import { type LoadedEndpoint, loadBundledEndpoints } from '../../service/endpoints.ts';
import { endpointEnvironment } from '../access/local-roles.ts';
import { writeDurably } from '../batch/durable-file.ts';
import { type RunningGateway, startGateway } from '../gateway/gateway-server.ts';
import { startEmulators } from './emulators/start-emulators.ts';
import type { EmulatorAccess } from './function-environment.ts';
import { greeting } from './greeting.ts';
import { HeapRoom } from './heap-room.ts';
import {
  checkSettings,
  readAnonymousTimes,
  readBodyBytes,
  readLimits,
  readOptions,
  readOrigins,
} from './start-options.ts';

/** `npm start`: the whole service on this machine. */
export async function main(args: readonly string[], installation: Installation): Promise<never> {
  // The reader of the output may close it; the service goes on.
  process.stdout.on('error', () => {});
  return runMain(() => serve(args, installation));
}

/** Where the service is, as absolute paths. */
interface Installation {
  /** Folder of the bundle that runs. */
  program: string;
  /** Folder of the sources that it was made of. */
  checkout: string;
}

/** Serve until a signal to stop, or until an emulator ends. Return the exit code. */
async function serve(args: readonly string[], { program, checkout }: Installation): Promise<number> {
  const stopping = stopRequested();
  // Started parts are stopped in reverse order, also when a later part does not start.
  await using started = new AsyncDisposableStack();
  const { port, dataFolder } = readOptions(args, process.env);
  checkSettings(process.env);
  const [limits, corsOrigins] = [readLimits(process.env), readOrigins(process.env)];
  const bodyBytes = readBodyBytes(process.env);
  const anonymousTimes = readAnonymousTimes(process.env);
  const loading = loadBundledEndpoints(program);
  // It is not awaited where the rest does not start.
  loading.catch(() => {});
  const { access, folders, firstAdmin, lost, isFull, warnings } = await startEmulators(started, {
    dataFolder,
    program,
    corsOrigins,
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
  });
  started.defer(() => gateway.close());

  // By it the command mps of this checkout finds the service, whatever its port.
  await writeDurably(
    join(dataFolder, 'service.json'),
    JSON.stringify({ url: gateway.url, pid: process.pid }),
  );
  process.stdout.write(
    greeting({
      url: gateway.url,
      dataFolder,
      checkout,
      hasDocs: endpoints.some(({ endpoint }) => endpoint.path === '/docs'),
      firstAdmin,
      warnings,
      jobsElsewhere: folders.work.startsWith(dataFolder) ? undefined : folders.work,
    }),
  );
  const title = await Promise.race([stopping, lost]);
  const why = title === undefined ? '' : `${title} ended unexpectedly; start again, nothing is lost. `;
  process.stderr.write(`${why}Stopping; running jobs get time to save. Ctrl-C again stops at once.\n`);
  return title === undefined ? 0 : 1;
}

/** npm hands on the Ctrl-C that the terminal has sent to everybody already: what follows so closely is the same one. */
const sameRequestMilliseconds = 500;

/** Resolves at the first Ctrl-C, SIGTERM or hang-up; at the next the process ends at once, with all it started. */
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

/** The same endpoint, whose function acts in a role of its own. */
function inRole(loaded: LoadedEndpoint, { credentials, hasRoles }: EmulatorAccess): LoadedEndpoint {
  const { endpoint } = loaded;
  if (!hasRoles) return loaded;
  return { ...loaded, handler: lambda(endpoint, endpointEnvironment(endpoint, process.env, credentials)) };
}

async function listen(options: Parameters<typeof startGateway>[0]): Promise<RunningGateway> {
  try {
    return await startGateway(options);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'EADDRINUSE') {
      throw new CommandError(
        `Port ${options.port} is in use. Choose another one: npm start -- --port <port>`,
      );
    }
    if (code === 'EACCES') {
      throw new CommandError(`Port ${options.port} needs more rights. Choose another one with --port.`);
    }
    throw error;
  }
}
