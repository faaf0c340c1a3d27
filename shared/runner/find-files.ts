import type { BigIntStats, Dir } from 'node:fs';
import { constants } from 'node:fs';
import { type FileHandle, lstat, open, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { FileRefused, openOwned, refusalOf } from './growing-file.ts';

export interface FoundFile {
  /** Below the folder, with slashes. */
  path: string;
  size: number;
  /** Differs when the file may have changed. */
  version: string;
  /** Opens the file, which may only be done until the next one is asked for. @throws FileRefused */
  open(): Promise<FileHandle>;
}

export interface FindFilesOptions {
  /** Whose files are taken; where this process is not root, anybody's. */
  user?: { uid: number };
  /** Gets what is left out and why; a blank path when the walk ends early. */
  refused(path: string, why: string): void;
  maxFiles: number;
  maxDepth: number;
  maxPathBytes: number;
}

/** Entries of any kind that are looked at for each file that may be found, so that a walk comes to an end. */
const ENTRIES_PER_FILE = 2;

/** A folder that is being walked, by a handle that no renaming can lead elsewhere. */
interface OpenFolder {
  path: string;
  handle: FileHandle;
  entries: Dir;
}

/** What tells a file and its state from others, by the times that the file system keeps. */
export const versionOf = ({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string =>
  [dev, ino, size, mtimeNs, ctimeNs].join(':');

/** A name within an open folder, for system calls. Where there is no /proc a path must do. */
export const within = (handle: FileHandle, folder: string, name: string): string =>
  process.platform === 'linux' ? `/proc/self/fd/${handle.fd}/${name}` : join(folder, name);

/** Opens a folder, and nothing that is only a link to one. */
export const openFolder = (path: string): Promise<FileHandle> =>
  open(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);

async function enter(open: string, real: string, path: string): Promise<OpenFolder> {
  const handle = await openFolder(open);
  try {
    const entries = await opendir(process.platform === 'linux' ? `/proc/self/fd/${handle.fd}` : real);
    return { path, handle, entries };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function leave({ handle, entries }: OpenFolder): Promise<void> {
  await entries.close();
  await handle.close();
}

function nameFault(name: string, path: string, { maxPathBytes }: FindFilesOptions): string | undefined {
  // What is not UTF-8 reaches us with this sign in its place.
  if (name.includes('\ufffd')) return 'its name is not UTF-8';
  return Buffer.byteLength(path) > maxPathBytes ? `its path is longer than ${maxPathBytes} bytes` : undefined;
}

function kindFault(found: BigIntStats, user: { uid: number } | undefined): string | undefined {
  if (found.isSymbolicLink()) return 'it is a link';
  if (!found.isFile()) return 'it is not a regular file';
  return user !== undefined && found.uid !== BigInt(user.uid) ? 'it belongs to somebody else' : undefined;
}

/** Why an entry cannot be taken; undefined when it has merely gone meanwhile. */
function faultOf(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOENT') return undefined;
  if (code === 'ENOTDIR') return 'it changed while it was looked at';
  const refusal = error instanceof FileRefused ? error : refusalOf(error);
  if (refusal === undefined) throw error;
  return refusal.message;
}

/**
 * Finds the regular files below a folder that somebody hostile owns and may change all the while. Links are never
 * followed, wherever they stand and whenever they are put there; devices, pipes and sockets are not even opened.
 */
export async function* findFiles(folder: string, options: FindFilesOptions): AsyncGenerator<FoundFile> {
  const { user, refused, maxFiles, maxDepth } = options;
  const open: OpenFolder[] = [await enter(folder, folder, '')];
  let files = 0;
  let entries = 0;
  try {
    for (let at = open.at(-1); at !== undefined; at = open.at(-1)) {
      const entry = await at.entries.read();
      if (entry === null) {
        open.pop();
        await leave(at);
        continue;
      }
      const { name } = entry;
      const path = at.path === '' ? name : `${at.path}/${name}`;
      entries += 1;
      if (entries > maxFiles * ENTRIES_PER_FILE) {
        refused('', `it holds more than ${maxFiles * ENTRIES_PER_FILE} entries`);
        return;
      }
      const fault = nameFault(name, path, options);
      if (fault !== undefined) {
        refused(path, fault);
        continue;
      }
      const real = within(at.handle, join(folder, at.path), name);
      try {
        const found = await lstat(real, { bigint: true });
        if (found.isDirectory()) {
          if (open.length > maxDepth) refused(path, `it lies more than ${maxDepth} folders deep`);
          else open.push(await enter(real, join(folder, path), path));
          continue;
        }
        const fault = kindFault(found, user);
        if (fault !== undefined) {
          refused(path, fault);
          continue;
        }
        if (files === maxFiles) {
          refused('', `it holds more than ${maxFiles} files`);
          return;
        }
        files += 1;
        const file = present({ path, size: Number(found.size), version: versionOf(found) }, real, user);
        try {
          yield file.found;
        } finally {
          file.expire();
        }
      } catch (error) {
        const why = faultOf(error);
        if (why !== undefined) refused(path, why);
      }
    }
  } finally {
    for (const one of open) await leave(one);
  }
}

/** A found file that can be opened until it expires: then its folder's handle may have been given to another. */
function present(file: Omit<FoundFile, 'open'>, real: string, user: { uid: number } | undefined) {
  let isCurrent = true;
  const found: FoundFile = {
    ...file,
    open: () =>
      isCurrent ? openOwned(real, user) : Promise.reject(new Error(`${file.path}: opened too late`)),
  };
  return {
    found,
    expire: () => {
      isCurrent = false;
    },
  };
}
