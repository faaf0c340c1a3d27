import { randomBytes } from 'node:crypto';
import { access, constants, mkdir, open, readdir, readFile, stat } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import * as z from 'zod';
import { diskFault } from '../../../shared/core/disk-fault.ts';
import { readJson } from '../../../shared/core/text/read-json.ts';
import { tryParseJson } from '../../../shared/core/text/try-parse-json.ts';
import { hasCode } from '../../../shared/host/has-code.ts';
import { takeKernelLock } from '../../../shared/host/kernel-lock.ts';
import { CommandError } from '../../command/command-error.ts';
import { writeDurably } from '../batch/durable-file.ts';
import { DiskReserve } from './disk-reserve.ts';

/** The folder that holds all data of a local service, locked against a second service. */
export interface DataFolder {
  path: string;
  /** Reserved disk space for deletes and for a restart on a full disk. */
  reserve: DiskReserve;
  within(name: string): string;
  release(): void;
}

export interface Credentials {
  accessKeyId: string;
  secretAccessKey: string;
}

const Owner = z.object({ pid: z.number().int() });

/**
 * Create the folder if it is missing, readable only for its owner, and lock it.
 * @throws CommandError if the folder is in use, cannot be written or has a newer version
 */
export async function openDataFolder(path: string): Promise<DataFolder> {
  try {
    return await openWritable(path);
  } catch (error) {
    if (error instanceof CommandError || !isSystemError(error)) throw error;
    throw new CommandError(
      `The data folder ${path} cannot be used: ${await reasonOf(error)}. Choose another one with --data.`,
      { cause: error },
    );
  }
}

const isSystemError = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error && 'code' in error;

/** Return why the system refuses a folder or a file in it, as a sentence without its full stop. */
async function reasonOf(error: NodeJS.ErrnoException): Promise<string> {
  if (diskFault(error) === 'full') return 'its disk is full; free some space';
  const at = error.path ?? 'it';
  switch (error.code) {
    case 'EROFS':
      return 'its file system is read-only';
    case 'EEXIST':
    case 'ENOTDIR':
      return 'it is a file, or lies below one';
    case 'EACCES':
    case 'EPERM':
      return `${nameOf(process.getuid?.())} may not write ${at}${await ownerOf(at)}`;
    default:
      return error.message;
  }
}

/** The owner of a file that this user may not write, if it is somebody else's. */
async function ownerOf(path: string): Promise<string> {
  const uid = await stat(path).then(
    (found) => found.uid,
    () => undefined,
  );
  return uid === undefined || uid === process.getuid?.() ? '' : `, which belongs to ${nameOf(uid)}`;
}

function nameOf(uid: number | undefined): string {
  if (uid === 0) return 'root';
  return uid === undefined || uid === process.getuid?.() ? `the user ${userInfo().username}` : `user ${uid}`;
}

async function openWritable(path: string): Promise<DataFolder> {
  const within = (name: string) => join(path, name);
  await mkdir(path, { recursive: true, mode: 0o700 }).catch(async (error: unknown) => {
    // Node.js says of a read-only parent that it is missing.
    await access(await nearestFolder(path), constants.W_OK);
    throw error;
  });
  const own = constants.R_OK | constants.W_OK;
  await access(path, own | constants.X_OK);
  // A folder that another user's service has used would fail later, in a process without this explanation.
  // The root of a file system has a folder of this name, which belongs to root.
  for (const { name, parentPath } of await readdir(path, { withFileTypes: true }))
    if (name !== 'lost+found') await access(join(parentPath, name), own).catch(unlessMissing);
  const held = await lock(within('lock'));
  if (held === undefined) {
    const owner = await readJson(within('owner.json'), Owner);
    throw new CommandError(
      `The data folder ${path} is in use by another service${owner === undefined ? '' : ` (process ${owner.pid})`}. Stop it first, or choose another folder with --data.`,
    );
  }
  const reserve = new DiskReserve(path, within('reserve'));
  try {
    await reserve.check();
    await checkDataFolderVersion(path, within('version.json'));
  } catch (error) {
    held.close();
    throw error;
  }
  await writeDurably(within('owner.json'), JSON.stringify({ pid: process.pid }));
  return { path, reserve, within, release: () => held.close() };
}

/** Return the folder above a missing one that exists. */
async function nearestFolder(path: string): Promise<string> {
  const above = dirname(path);
  if (above === path) return above;
  return stat(above).then(
    () => above,
    () => nearestFolder(above),
  );
}

/** A file may go in between, and a link may lead nowhere. */
function unlessMissing(error: unknown): void {
  if (!hasCode(error, 'ENOENT')) throw error;
}

async function lock(file: string): Promise<ReturnType<typeof takeKernelLock>> {
  // No other user may open the file: they could lock it and keep the owner out.
  await (await open(file, 'a', 0o600)).close();
  return takeKernelLock(file);
}

/**
 * Check that this release can use a data folder, and write its version there. A folder without a version is new,
 * or comes from a release before versions. Both become folders of this version.
 * @throws CommandError for a folder of a newer version
 */
async function checkDataFolderVersion(path: string, file: string): Promise<void> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
    return writeDurably(file, JSON.stringify({ version: dataFolderVersion }));
  }
  const version = Stored.safeParse(tryParseJson(text)).data?.version;
  if (version === undefined) {
    throw new CommandError(
      `The data folder ${path} has no readable version. Put {"version":${dataFolderVersion}} into ${file} if this release or an older one wrote the folder.`,
    );
  }
  if (version > dataFolderVersion) {
    throw new CommandError(
      `The data folder ${path} is of version ${version}, and this release uses versions up to ${dataFolderVersion}. Start it with the release that wrote it or a newer one, restore a backup from before, or choose another folder with --data.`,
    );
  }
  if (version < dataFolderVersion) await writeDurably(file, JSON.stringify({ version: dataFolderVersion }));
}

/**
 * Version of the folder's layout. Increase it with a change that an earlier release cannot read. Records have
 * their own version.
 */
export const dataFolderVersion = 1;

const Stored = z.object({ version: z.number().int().min(1) });

const StoredCredentials = z.object({ accessKeyId: z.string().min(1), secretAccessKey: z.string().min(1) });

/**
 * Return the credentials of this folder's emulators. They are random, made once, and readable only for their
 * owner.
 */
export async function emulatorCredentials({ within }: DataFolder): Promise<Credentials> {
  const file = within('credentials.json');
  const stored = await readJson(file, StoredCredentials);
  if (stored !== undefined) return stored;
  const made = {
    accessKeyId: `LOCAL${randomBytes(8).toString('hex').toUpperCase()}`,
    secretAccessKey: randomBytes(30).toString('base64url'),
  };
  await writeDurably(file, JSON.stringify(made));
  return made;
}
