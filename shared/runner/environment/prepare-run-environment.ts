import { lstat, readdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { recordLock } from '../../data/projects/environment.ts';
import { tryWrite } from '../../data/table/write-label.ts';
import { leaseCheck, noteProgress } from '../job/hold-job.ts';
import { JobError } from '../job/job-error.ts';
import { trainingSandbox } from '../job/job-sandbox.ts';
import type { TrainingJob, TrainingRun } from '../job/training-job.ts';
import type { EnvironmentSpec } from './dependencies/parse-dependencies.ts';
import { DownloadCache, downloadsFolder } from './downloads/download-cache.ts';
import { indexVariables } from './index-variables.ts';
import { superviseInstaller } from './install/supervised-installer.ts';
import { type PreparedEnvironment, prepareEnvironment } from './prepare-environment.ts';
import { storedEnvironments } from './stored-environments.ts';

/** Time limit of an installation in seconds. */
const installSeconds = 3600;

/**
 * Prepare the environment of a training (see `prepareEnvironment`) and record the result.
 * @throws JobError, for example an EnvironmentError, if it cannot be prepared
 */
export async function prepareRunEnvironment({
  job,
  workspace,
  user,
  shipper,
  variables,
}: TrainingRun): Promise<PreparedEnvironment> {
  const { record: experiment, container, lease, records, objects, stop, now } = job;
  const { project_id } = experiment;
  const shared = { timeoutSeconds: installSeconds, stop: stop.signal } as const;
  const { marker } = container;
  const installer = {
    ...{ ...shared, marker, ...(user !== undefined && { user }) },
    sandbox: trainingSandbox(job, workspace, 'install'),
    memoryBytes: experiment.memory * 2 ** 20,
    mask: variables.mask,
  };
  const onOutput = (stream: 'stdout' | 'stderr', chunk: Buffer) => shipper.output(stream, chunk);
  const prepared = await prepareEnvironment({
    spec: specOf(job),
    projectId: project_id,
    packageIndexes: job.settings.packageIndexes,
    sourceFolder: workspace.source,
    root: container.environmentsFolder,
    store: storedEnvironments(
      records,
      objects,
      project_id,
      lease.holder,
      now,
      stop.signal,
      container.keepsDownloads,
    ),
    ...(container.keepsDownloads && {
      downloads: new DownloadCache(join(container.environmentsFolder, downloadsFolder), objects),
    }),
    run: superviseInstaller({ ...installer, onOutput }),
    runProbe: superviseInstaller(installer),
    runEngine: superviseInstaller({ ...shared, marker }),
    runService: superviseInstaller({ ...shared, marker, mask: variables.mask, onOutput }),
    ...(user !== undefined && { owner: user }),
    operatorEnv: process.env,
    ...(container.cacheBytes !== undefined && { maxBytes: container.cacheBytes }),
    indexes: indexVariables(variables.values),
    log: (line) => shipper.say(line),
    stop: stop.signal,
  });
  if (container.identity.isBuild && prepared.requestKey !== null && !prepared.stored) {
    throw new JobError('The environment was built but could not be stored for the cluster.');
  }
  await noteProgress(job, {
    lock_hash: prepared.lockHash,
    environment_cache: prepared.cache,
    saved_seconds: Math.round(prepared.savedSeconds * 10) / 10,
  });
  if (prepared.lockHash !== null) await noteLock(job, prepared.lockHash);
  if (prepared.nodeModules !== null)
    await linkModules(prepared.nodeModules, join(workspace.source, 'node_modules'));
  return prepared;
}

/** Return the environment to prepare; none if this container runs the image that the environment names. */
function specOf({ record, container: { trustedImage } }: TrainingJob): EnvironmentSpec {
  const { env_type, dependencies } = record.environment;
  const isHere = env_type === 'docker' && dependencies.trim() === trustedImage;
  return isHere ? { env_type: 'system', dependencies: '' } : { env_type, dependencies };
}

/** Record the lock as the latest one of the project's environment. */
async function noteLock(job: TrainingJob, lock_hash: string): Promise<void> {
  const { project_id, environment } = job.record;
  const resolved = { project_id, version: environment.version, lock_hash };
  // The write is refused if the environment has changed since the job began, or the lease is lost. Then there is
  // nothing to note.
  await tryWrite(recordLock(job.records, resolved, leaseCheck(job)));
}

/**
 * Make the packages of an environment visible to `import`: `to` becomes a link to `modules`. If the source has its own
 * `node_modules`, each package that it lacks becomes a link in it, so its own packages come first. No process of the
 * user may run at the same time, because links are made in the user's folders.
 */
export async function linkModules(modules: string, to: string): Promise<void> {
  const facts = await lstat(to).catch(() => undefined);
  if (facts === undefined) return symlink(modules, to);
  if (!facts.isDirectory()) return;
  for (const name of await readdir(modules)) {
    if (name.startsWith('.')) continue;
    const [from, own] = [join(modules, name), join(to, name)];
    // A scope (`@scope`) may contain packages of both.
    const isScope = name.startsWith('@');
    if (isScope || (await lstat(own).catch(() => undefined)) === undefined) await linkModules(from, own);
  }
}
