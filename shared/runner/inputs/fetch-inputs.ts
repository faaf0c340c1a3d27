import { chmod, mkdir, open, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ArchiveError, type ArchiveLimits } from '../../archive/archive-error.ts';
import { DiskRoom, DiskRoomError } from '../../archive/disk-room.ts';
import { extractArchive } from '../../archive/extract-archive.ts';
import type { ObjectReader } from '../../aws/objects.ts';
import { type Experiment, readJobConfig } from '../../data/experiment.ts';
import type { TableReader } from '../../data/table.ts';
import { datasetObject, sourceObject } from '../../data/upload.ts';
import type { CommandUser } from '../../process/executable.ts';
import { JobError } from '../job/job-error.ts';
import { retryFor } from '../job/retry.ts';
import type { Workspace } from '../job/workspace.ts';
import { downloadObject } from './download-object.ts';

/** Seconds for which a table that is away is asked again. */
const patienceSeconds = 600;

const sourceLimits: ArchiveLimits = {
  maxEntries: 100_000,
  maxBytes: 20_000_000_000,
  maxPathBytes: 1024,
  maxDepth: 64,
};
const dataLimits: ArchiveLimits = { ...sourceLimits, maxEntries: 2_000_000, maxBytes: 100_000_000_000 };

/**
 * Downloads an object to a file and checks that it is what its hash says. Throws a `JobError` naming `what` where it
 * is gone, cannot be fetched or has another hash.
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

/** Fetches the source and unpacks it; an experiment without a source gets an empty folder. */
export async function fetchSource(
  objects: ObjectReader,
  { project_id, source_sha256 }: Experiment,
  { own, source }: Workspace,
  owner: CommandUser | undefined,
  stop: AbortSignal,
): Promise<void> {
  if (source_sha256 === null) {
    await mkdir(source, { mode: 0o755 });
    return;
  }
  const file = join(own, 'source');
  await fetchObject(
    objects,
    sourceObject(project_id, source_sha256),
    source_sha256,
    file,
    'source archive',
    stop,
  );
  await unpack(file, source, sourceLimits, 'source archive', owner);
}

/** Fetches the data set: an archive is unpacked, any other file lies in the folder under the data set's name. */
export async function fetchData(
  objects: ObjectReader,
  { project_id, dataset, dataset_sha256, dataset_is_archive }: Experiment,
  { own, data }: Workspace,
  stop: AbortSignal,
): Promise<void> {
  if (dataset === null || dataset_sha256 === null) {
    await mkdir(data, { mode: 0o755 });
    return;
  }
  const file = join(own, 'dataset');
  await fetchObject(
    objects,
    datasetObject(project_id, dataset_sha256),
    dataset_sha256,
    file,
    `data set ${dataset}`,
    stop,
  );
  if (dataset_is_archive) {
    await unpack(file, data, dataLimits, `data set ${dataset}`);
    return;
  }
  await mkdir(data, { mode: 0o755 });
  await chmod(file, 0o444);
  await rename(file, join(data, dataset));
}

/** Writes the configuration as it was when the experiment was made; returns its path. */
export async function writeConfig(
  records: TableReader<'records'>,
  experiment: Experiment,
  { config }: Workspace,
): Promise<string> {
  const bytes = await retryFor(patienceSeconds, () => readJobConfig(records, experiment.experiment_id));
  if (bytes === undefined) throw new JobError('The configuration of this experiment is no longer stored.');
  const path = join(config, experiment.config_id);
  await writeFile(path, bytes, { mode: 0o444 });
  return path;
}
