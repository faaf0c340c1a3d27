import { access, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { recordLock } from '../data/environment.ts';
import { holdsLease } from '../data/lease.ts';
import { ConditionFailedError } from '../data/write-label.ts';
import type { CommandUser } from '../process/executable.ts';
import type { EnvironmentSpec } from './environment/dependencies/parse-dependencies.ts';
import { type PreparedEnvironment, prepareEnvironment } from './environment/prepare-environment.ts';
import { storedEnvironments } from './environment/stored-environments.ts';
import { superviseInstaller } from './environment/supervised-installer.ts';
import { fetchData, fetchSource, writeConfig } from './inputs/fetch-inputs.ts';
import { noteProgress } from './job/held-job.ts';
import type { Job } from './job/job.ts';
import { JobError } from './job/job-error.ts';
import { trainingSandbox } from './job/job-sandbox.ts';
import type { Workspace } from './job/workspace.ts';
import type { LogShipper } from './telemetry/log-shipper.ts';

const installSeconds = 3600;

interface Preparation {
  job: Job;
  workspace: Workspace;
  user: CommandUser | undefined;
  shipper: LogShipper;
}

/** What is to be prepared: nothing, where this container is of the very image that the environment names. */
function specOf({ record, environment: { trustedImage } }: Job): EnvironmentSpec {
  const { env_type, dependencies } = record.environment;
  const isHere = env_type === 'docker' && dependencies.trim() === trustedImage;
  return isHere ? { env_type: 'system', dependencies: '' } : { env_type, dependencies };
}

/** Builds the environment of a job, or takes it from the cache, and notes what it resolved to. */
async function prepare({ job, workspace, user, shipper }: Preparation): Promise<PreparedEnvironment> {
  const { record: experiment, environment, lease, records, objects, stop, now } = job;
  const { project_id } = experiment;
  const shared = { timeoutSeconds: installSeconds, stop: stop.signal } as const;
  const { marker } = environment;
  const installer = {
    ...{ ...shared, marker, ...(user !== undefined && { user }) },
    sandbox: trainingSandbox(job, workspace, 'install'),
    memoryBytes: experiment.memory * 2 ** 20,
  };
  const onOutput = (stream: 'stdout' | 'stderr', chunk: Buffer) => shipper.output(stream, chunk);
  const prepared = await prepareEnvironment({
    spec: specOf(job),
    projectId: project_id,
    sourceFolder: workspace.source,
    root: environment.environmentsFolder,
    store: storedEnvironments(records, objects, project_id, lease.holder, now, stop.signal),
    run: superviseInstaller({ ...installer, onOutput }),
    runProbe: superviseInstaller(installer),
    runEngine: superviseInstaller({ ...shared, marker }),
    ...(user !== undefined && { owner: user }),
    operatorEnv: process.env,
    log: (line) => shipper.say(line),
    stop: stop.signal,
  });
  if (environment.container.isBuild && prepared.requestKey !== null && !prepared.stored) {
    throw new JobError('The environment was built but could not be stored for the cluster.');
  }
  await noteProgress(job, {
    lock_hash: prepared.lockHash,
    environment_cache: prepared.cache,
    saved_seconds: Math.round(prepared.savedSeconds * 10) / 10,
  });
  if (prepared.lockHash !== null) await noteLock(job, prepared.lockHash);
  if (prepared.nodeModules !== null) await linkModules(workspace, prepared.nodeModules);
  return prepared;
}

async function noteLock({ records, record, node, lease }: Job, lock_hash: string): Promise<void> {
  const { project_id, experiment_id, environment } = record;
  const proof = holdsLease(experiment_id, node, lease);
  try {
    await recordLock(records, { project_id, version: environment.version, lock_hash }, proof);
  } catch (error) {
    // The environment has been changed since, so that what this job resolved is no news of it; or the lease is lost.
    if (!(error instanceof ConditionFailedError)) throw error;
  }
}

/** Puts the packages where `import` looks for them, unless the source brings its own. */
async function linkModules({ source }: Workspace, modules: string): Promise<void> {
  const link = join(source, 'node_modules');
  const isThere = await access(link).then(
    () => true,
    () => false,
  );
  if (!isThere) await symlink(modules, link);
}

/** Fetches what the command needs: source, configuration, data set and environment. Returns the configuration's path. */
export async function prepareRun(
  preparation: Preparation,
): Promise<{ prepared: PreparedEnvironment; configPath: string }> {
  const { job, workspace, user } = preparation;
  const { record: experiment, records, objects, environment, stop } = job;
  await fetchSource(objects, experiment, workspace, user, stop.signal);
  const configPath = await writeConfig(records, experiment, workspace);
  if (!environment.container.isBuild) await fetchData(objects, experiment, workspace, stop.signal);
  await noteProgress(job, { status_reason: 'Preparing the environment.' });
  const prepared = await prepare(preparation);
  return { prepared, configPath };
}
