import { chmod, mkdir, open, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ArchiveError, type ArchiveLimits } from '../../archive/archive-error.ts';
import { dataLimits, sourceLimits } from '../../archive/archive-limits.ts';
import { DiskRoom, DiskRoomError } from '../../archive/disk-room.ts';
import { extractArchive } from '../../archive/extract-archive.ts';
import type { ObjectReader } from '../../aws/objects.ts';
import type { SourceNotes } from '../../config/source-notes.ts';
import type { ModelExport } from '../../data/experiments/model-export.ts';
import { readJobConfig } from '../../data/jobs/job-config.ts';
import { datasetObject, sourceObject } from '../../data/projects/upload.ts';
import { exportedFolder } from '../../exports/program/export-settings.ts';
import { exporterFiles } from '../../exports/program/exporter-files.ts';
import type { CommandUser } from '../../host/host.ts';
import { downloadObject } from '../job/download-object.ts';
import { JobError } from '../job/job-error.ts';
import { longPatience, retryFor } from '../job/retry-for.ts';
import type { TrainingRun } from '../job/training-job.ts';
import { restoreFiles } from './restore-checkpoints.ts';
import { linkLeftOut, takeSourceNotes } from './source-notes.ts';

/**
 * Fetch source, configuration and data set of a training into its workspace. A build of the environment needs no
 * data set.
 * @throws JobError if one is missing, damaged, refused or too large for the disk
 */
export async function fetchInputs(run: TrainingRun): Promise<TrainingFiles> {
  await fetchSource(run);
  const notes = await takeSourceNotes(run);
  const configPath = await writeConfig(run);
  if (run.job.container.identity.isBuild) return { configPath, notes, linked: undefined };
  await fetchData(run);
  return { configPath, notes, linked: await linkLeftOut(run, notes) };
}

/** What a training has fetched, besides the files themselves. */
export interface TrainingFiles {
  /** Path of the configuration. */
  configPath: string;
  notes: SourceNotes;
  /** Path of the source at which the data set is, too; see {@link linkLeftOut}. */
  linked: string | undefined;
}

/** Fetch the source and unpack it; an experiment without a source gets an empty folder. */
async function fetchSource(run: TrainingRun): Promise<void> {
  const { job, workspace, user } = run;
  const { project_id, source_sha256: sha256, model_export } = job.record;
  if (model_export !== undefined) return fetchExporter(run, model_export);
  const { own, source } = workspace;
  if (sha256 === null) {
    await mkdir(source, { mode: 0o755 });
    return;
  }
  const file = join(own, 'source');
  const object = sourceObject(project_id, sha256);
  await fetchObject(job.objects, object, sha256, file, 'source archive', job.stop.signal);
  await unpack(file, source, sourceLimits, 'source archive', user);
}

/** Write the program that exports a model, and fetch the artifacts that it reads, if it reads any. */
async function fetchExporter({ job, workspace, user }: TrainingRun, { source }: ModelExport): Promise<void> {
  const { modules } = await exporterFiles();
  for (const [name, text] of Object.entries(modules)) {
    const file = join(workspace.source, name);
    await mkdir(dirname(file), { recursive: true, mode: 0o755 });
    await writeFile(file, text, { mode: 0o444 });
  }
  if (!('experiment_id' in source)) return;
  const { experiment_id, path } = source;
  const folder = join(workspace.source, exportedFolder);
  await mkdir(folder, { mode: 0o755 });
  const { records, objects, stop } = job;
  const below = path === '' ? '' : `${path}/`;
  const from = { experiment: { experiment_id }, records, objects, folder, stop: stop.signal };
  const restored = await restoreFiles(
    { ...from, ...(user !== undefined && { user }) },
    { kind: 'artifact', below },
  );
  if (restored === 0)
    throw new JobError(`Experiment ${experiment_id} has no artifacts below ${path} any more.`);
}

/**
 * Download an object to a new file and verify its SHA-256.
 * @param what names the object in messages: "data set mnist"
 * @throws JobError if it is missing, cannot be fetched or has another hash
 */
export async function fetchObject(
  objects: ObjectReader,
  key: string,
  sha256: string,
  path: string,
  what: string,
  stop: AbortSignal,
): Promise<void> {
  const named = `${what} ${sha256.slice(0, 12)}…`;
  const file = await open(path, 'wx', 0o600);
  try {
    const found = await downloadObject(objects, key, file, {
      what: named,
      room: new DiskRoom(dirname(path)),
      stop,
    });
    if (found === undefined) throw new JobError(`The ${named} is no longer stored.`);
    if (found !== sha256)
      throw new JobError(`The stored ${what} does not have the hash ${sha256.slice(0, 12)}….`);
  } finally {
    await file.close();
  }
}

async function unpack(
  file: string,
  into: string,
  limits: ArchiveLimits,
  what: string,
  owner?: CommandUser,
): Promise<void> {
  try {
    await extractArchive({ file, into, limits, ...(owner !== undefined && { owner }) });
  } catch (error) {
    if (error instanceof DiskRoomError)
      throw new JobError(`The ${what} does not fit on the disk: ${error.message}.`);
    if (error instanceof ArchiveError) throw new JobError(`The ${what} is refused: ${error.message}.`);
    throw error;
  }
  await rm(file);
}

/** Write the configuration of the experiment's creation time, and return its path. */
async function writeConfig({ job, workspace }: TrainingRun): Promise<string> {
  const { records, record: experiment } = job;
  const bytes = await retryFor(longPatience, () => readJobConfig(records, experiment.experiment_id));
  if (bytes === undefined || experiment.config_id === null)
    throw new JobError('The configuration of this experiment is no longer stored.');
  const path = join(workspace.config, experiment.config_id);
  await writeFile(path, bytes, { mode: 0o444 });
  return path;
}

/** Fetch the data set: unpack an archive, and put any other file into the folder under the data set's name. */
async function fetchData({ job, workspace }: TrainingRun): Promise<void> {
  const { project_id, dataset, dataset_sha256: sha256, dataset_is_archive } = job.record;
  const { own, data } = workspace;
  if (dataset === null || sha256 === null) {
    await mkdir(data, { mode: 0o755 });
    return;
  }
  const file = join(own, 'dataset');
  const what = `data set ${dataset}`;
  await fetchObject(job.objects, datasetObject(project_id, sha256), sha256, file, what, job.stop.signal);
  if (dataset_is_archive) {
    await unpack(file, data, dataLimits, what);
    return;
  }
  await mkdir(data, { mode: 0o755 });
  await chmod(file, 0o444);
  await rename(file, join(data, dataset));
}
