import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { DiskRoom } from '../../archive/disk-room.ts';
import type { ObjectReader } from '../../aws/objects.ts';
import type { Artifact, ArtifactKind } from '../../data/experiments/artifact.ts';
import type { Experiment } from '../../data/experiments/experiment.ts';
import type { TableWriter } from '../../data/table/table.ts';
import { hasCode } from '../../host/has-code.ts';
import type { CommandUser } from '../../host/host.ts';
import { downloadObject } from '../job/download-object.ts';
import { JobError } from '../job/job-error.ts';
import { openFolder, within } from '../outputs/find-files.ts';
import { eachArtifact } from '../outputs/upload/artifact-store.ts';

export interface Restoration {
  /** The experiment with the checkpoints. */
  experiment: Pick<Experiment, 'experiment_id'>;
  records: TableWriter<'records'>;
  objects: ObjectReader;
  folder: string;
  /** Owner of the files; undefined if this process is not root. */
  user?: CommandUser;
  stop?: AbortSignal;
}

/** Which stored files to restore, and the path that is left out of theirs. */
interface Selection {
  kind: ArtifactKind;
  below: string;
}

/**
 * Download the checkpoints of earlier attempts into the folder before the command starts. Return their number. The
 * environment's build has run as the same user and may have created any entry there, so no link is followed.
 * @throws JobError if a checkpoint is damaged or the folder cannot hold it
 */
export async function restoreCheckpoints(restoration: Restoration): Promise<number> {
  try {
    return await restoreFiles(restoration, { kind: 'checkpoint', below: '' });
  } catch (error) {
    if (!hasCode(error, 'ENOTDIR', 'ELOOP', 'EISDIR', 'EPERM')) throw error;
    throw new JobError(
      'CHECKPOINT_DIR was changed before the command started, so checkpoints cannot be restored.',
    );
  }
}

/** Download the stored files below a path, and return their number. Follows no link. @throws JobError */
export async function restoreFiles(restoration: Restoration, { kind, below }: Selection): Promise<number> {
  let restored = 0;
  for await (const artifact of eachArtifact({ ...restoration, kind })) {
    if (!artifact.path.startsWith(below)) continue;
    await restoreFile({ ...artifact, path: artifact.path.slice(below.length) }, kind, restoration);
    restored += 1;
  }
  return restored;
}

async function restoreFile(
  { path, object, sha256 }: Artifact,
  kind: ArtifactKind,
  { objects, folder, user, stop }: Restoration,
): Promise<void> {
  const names = path.split('/');
  if (names.some((name) => name === '' || name === '.' || name === '..' || name.includes('\0'))) {
    throw new JobError(`The path of the stored ${kind} ${JSON.stringify(path)} is not valid.`);
  }
  const name = names.pop() ?? '';
  const file = await inFolder(folder, names, user, (parent, at) =>
    createFile(within(parent, at, name), user),
  );
  try {
    const what = `stored ${kind} ${JSON.stringify(path)}`;
    const found = await downloadObject(objects, object, file, { what, room: new DiskRoom(folder), stop });
    // The digest of what a client sent in parts is unknown.
    if (found === undefined || (sha256 !== null && found !== sha256))
      throw new JobError(`The stored ${kind} ${JSON.stringify(path)} is missing or damaged.`);
  } finally {
    await file.close();
  }
}

/** Run an action with an open handle of a subfolder of `folder`. */
async function inFolder<T>(
  folder: string,
  names: readonly string[],
  user: CommandUser | undefined,
  act: (parent: FileHandle, folder: string) => Promise<T>,
): Promise<T> {
  let at = { handle: await openFolder(folder), path: folder };
  try {
    for (const name of names) {
      const handle = await subfolder(at.handle, at.path, name, user);
      await at.handle.close();
      at = { handle, path: join(at.path, name) };
    }
    return await act(at.handle, at.path);
  } finally {
    await at.handle.close();
  }
}

/** Open a folder within an open one, and create it if it is missing. Never follows a link. */
async function subfolder(
  parent: FileHandle,
  folder: string,
  name: string,
  user: CommandUser | undefined,
): Promise<FileHandle> {
  const path = within(parent, folder, name);
  let isNew = true;
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
    isNew = false;
  }
  const handle = await openFolder(path);
  if (isNew && user !== undefined) await handle.chown(user.uid, user.gid);
  return handle;
}

/** Create a file, replacing any other entry of its name. */
async function createFile(path: string, user: CommandUser | undefined): Promise<FileHandle> {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  await unlink(path).catch((error: unknown) => {
    if (!hasCode(error, 'ENOENT')) throw error;
  });
  const handle = await open(path, flags, 0o600);
  if (user !== undefined) await handle.chown(user.uid, user.gid);
  return handle;
}
