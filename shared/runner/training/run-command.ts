import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseCommand } from '../../command/parse-command.ts';
import { type ConfigValues, configPlaceholders, resolveCommand } from '../../command/placeholders.ts';
import { parseConfigFile } from '../../config/parse-config-file.ts';
import { mlflowUploadVariables } from '../../core/mlflow-upload-variables.ts';
import type { SystemUse } from '../../data/experiments/system-use.ts';
import { configParams } from '../../experiments/config-params.ts';
import { type Outcome, supervise } from '../../process/supervise.ts';
import type { PreparedEnvironment } from '../environment/prepare-environment.ts';
import { trainingSandbox } from '../job/job-sandbox.ts';
import type { TrainingRun } from '../job/training-job.ts';
import type { OpenTracking } from '../outputs/client-records.ts';
import { collectOutputs } from '../outputs/collect-outputs.ts';
import type { SystemSampler } from '../telemetry/system-sampler.ts';
import { keepModules } from '../trackers/keep-modules.ts';
import { figureVariables, provideTrackers } from '../trackers/provide-trackers.ts';
import { commandEnvironment, runValues } from './command-environment.ts';
import { CrashLine } from './crash-line.ts';
import { dockerCommand } from './docker-command.ts';
import { withPythonNames } from './python-name.ts';
import { quietKernel } from './quiet-kernel.ts';
import { watchPeers } from './watch-peers.ts';

export interface CommandResult {
  outcome: Outcome;
  /** Warnings for the run. */
  warnings: readonly string[];
  /** What the command used; undefined if it was too short to tell. */
  system?: SystemUse | undefined;
  /** The error that the command printed last, if it printed one. */
  crash?: string | undefined;
}

/**
 * Run the user's command in its prepared workspace. On node 0 also collect its metrics and files, and watch the
 * other nodes of a cluster.
 * @throws ArtifactLimitError if not all files could be stored; LeaseLostError
 */
export async function runCommand(
  run: TrainingRun,
  prepared: PreparedEnvironment,
  configPath: string,
  openTracking: OpenTracking | undefined,
): Promise<CommandResult> {
  const { job } = run;
  const crash = new CrashLine(run.variables.mask, job.record.model_export !== undefined);
  const clients = trackingClients(run, prepared);
  const modules = prepared.image === null ? await provideTrackers(run) : undefined;
  if (prepared.image === null) await quietKernel(run);
  if (job.node > 0) {
    const elsewhere = clients.areServed ? clients.untracked() : {};
    const outcome = await superviseCommand(run, prepared, configPath, crash, { env: elsewhere, modules });
    return { outcome, warnings: [], crash: crash.read() };
  }
  const outputs = await collectOutputs(run, prepared);
  const tracking = clients.areServed ? await openTracking?.(run, outputs.logs) : undefined;
  const endWatch = watchPeers(job);
  const env = tracking === undefined ? {} : clients.reach(tracking.env);
  const { system } = outputs;
  const outcome = await superviseCommand(run, prepared, configPath, crash, { env, modules, system }).finally(
    endWatch,
  );
  await tracking?.close(outcome.cause === 'exited' && outcome.exitCode === 0);
  return { outcome, ...(await outputs.finish()), crash: crash.read() };
}

const uriVariable = 'MLFLOW_TRACKING_URI';

const proxyVariables = ['HTTP_PROXY', 'ALL_PROXY', 'http_proxy', 'all_proxy'];

const loopback = '127.0.0.1';

/** The settings of MLflow clients in a run's command. */
function trackingClients(
  { job, workspace, variables: { values } }: TrainingRun,
  { image }: Pick<PreparedEnvironment, 'image'>,
) {
  return {
    /**
     * False if the project configures its own tracking server, or if the command runs in a container with another
     * loopback address.
     */
    areServed: values[uriVariable] === undefined && (image === null || job.record.nodes > 1),

    /** Return the variables of a server on the loopback address. They bypass the project's proxy. */
    reach(env: Readonly<Record<string, string>>): Record<string, string> {
      if (!proxyVariables.some((name) => values[name] !== undefined)) return { ...env };
      const past = (name: string) => ({ [name]: [values[name], loopback].filter(Boolean).join(',') });
      return { ...env, ...past('NO_PROXY'), ...past('no_proxy') };
    },

    /**
     * Variables for other nodes of a cluster. Only node 0 records; the others log to a folder that is removed
     * after the run.
     */
    untracked: (): Record<string, string> => ({
      [uriVariable]: pathToFileURL(join(workspace.temporary, 'mlruns')).href,
      MLFLOW_ALLOW_FILE_STORE: 'true',
    }),
  };
}

/**
 * A project that names folders of modules in a variable keeps them, before those of its source and of the service.
 */
function joinedModules(project: Variables, own: Variables, more?: string): { PYTHONPATH?: string } {
  const each = [project['PYTHONPATH'], own['PYTHONPATH'], more].filter((paths) => paths !== undefined);
  return each.length === 0 ? {} : { PYTHONPATH: each.join(':') };
}

type Variables = Readonly<Record<string, string | undefined>>;

/** How clients of the command record. */
interface Tracking {
  env: Readonly<Record<string, string>>;
  /** Folder of modules that stand in for those of other services. */
  modules: string | undefined;
  /** Samples what the command uses. */
  system?: SystemSampler;
}

/**
 * Run the command as a process next to the supervisor, or in a container of its image, until it ends or is
 * stopped.
 */
async function superviseCommand(
  { job, workspace, user, shipper, variables }: TrainingRun,
  prepared: PreparedEnvironment,
  configPath: string,
  crash: CrashLine,
  tracking: Tracking,
): Promise<Outcome> {
  const { record: experiment, container, stop, progress } = job;
  const values = runValues(experiment, container, workspace, configPath);
  const command = experiment.environment.entry_point_command;
  const argv = resolveCommand(command, values, await configValues(command, configPath));
  const own = {
    ...commandEnvironment(experiment, workspace, values, prepared.env),
    ...tracking.env,
    ...(await figureVariables(tracking.modules, command)),
  };
  const project = {
    // Where the host has no sandboxes, git would find a repository above the run.
    GIT_CEILING_DIRECTORIES: workspace.root,
    // Large uploads to other servers, or from a container, go in parts too.
    ...mlflowUploadVariables,
    ...variables.values,
  };
  const env = { ...project, ...own, ...joinedModules(project, own, tracking.modules) };
  const supervision = {
    cwd: workspace.folder,
    timeoutSeconds: Math.max(1, experiment.timeout - progress.keptBefore),
    graceSeconds: container.stopGrace,
    marker: container.marker,
    stop: stop.signal,
    onOutput(stream: 'stdout' | 'stderr', chunk: Buffer) {
      crash.take(stream, chunk);
      return shipper.output(stream, chunk);
    },
  };
  if (prepared.image === null) {
    const named = await withPythonNames(own['PATH'] ?? '', workspace, user);
    const PATH =
      tracking.modules === undefined ? named : await keepModules(named, tracking.modules, workspace, user);
    return supervise({
      ...{ argv, env: { ...env, PATH }, ...supervision },
      ...(user !== undefined && { user }),
      sandbox: trainingSandbox(job, workspace, 'run'),
      memoryBytes: experiment.memory * 2 ** 20,
      onListing: (listing) => tracking.system?.take(listing),
    });
  }
  const given = { own, project };
  const docker = await dockerCommand(job, workspace, prepared.image, argv, given, user);
  const running = supervise({ argv: docker.argv, env: docker.env, ...supervision });
  const outcome = await running.finally(() => docker.forget());
  if (outcome.cause !== 'exited') await docker.end();
  return outcome;
}

/**
 * Return the configuration's values for a command; none if the command names none. The request for the training has
 * parsed the same file.
 */
async function configValues(command: string, configPath: string): Promise<ConfigValues> {
  if (parseCommand(command).every((word) => configPlaceholders(word).length === 0)) return {};
  const { data } = parseConfigFile(basename(configPath), await readFile(configPath, 'utf8'));
  return configParams(data);
}
