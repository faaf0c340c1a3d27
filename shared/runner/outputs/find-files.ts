import type { BigIntStats, Dir } from 'node:fs';
import { constants } from 'node:fs';
import { type FileHandle, lstat, open, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../../host/has-code.ts';
import { thisHost } from '../../host/this-host.ts';
import { FileRefusedError, openOwned, refusalOf } from '../host/growing-file.ts';

export interface FindFilesOptions {
  /** Owner of the files to find; any owner if this process is not root. */
  user?: { uid: number };
  /** Called for each skipped path with the reason. The path is blank if the walk ends early. */
  refused(path: string, why: string): void;
  /** Whether to pass over a folder without a word; none by default. `place` is its path for system calls. */
  passesOver?(path: string, place: string): Promise<boolean>;
  maxFiles: number;
  maxDepth: number;
  maxPathBytes: number;
}

export interface FoundFile {
  /** Path relative to the folder, with slashes. */
  path: string;
  size: number;
  /** Changes if the file may have changed. */
  version: string;
  /** Changes if the file was written or replaced, but not with its mode, owner or name. */
  written: string;
  /** Open the file. Only valid until the next file is requested. @throws FileRefusedError */
  open(): Promise<FileHandle>;
}

/** Entries of any kind examined for each file allowed, which bounds the walk. */
const entriesPerFile = 2;

/**
 * Find the regular files below a folder that a hostile user owns and may change during the walk. Never follows
 * links, including new ones. Does not open devices, pipes or sockets.
 */
export async function* findFiles(folder: string, options: FindFilesOptions): AsyncGenerator<FoundFile> {
  const { refused, maxFiles } = options;
  const maxEntries = maxFiles * entriesPerFile;
  const top = await enterTop(folder);
  if (top === undefined) return refused('', 'it is no longer a folder');
  const open = [top];
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
      entries += 1;
      if (entries > maxEntries) return refused('', `it contains more than ${maxEntries} entries`);
      const found = await examine(at, entry.name, folder, options);
      if (found === undefined) continue;
      if ('fault' in found) refused(found.path, found.fault);
      else if ('entries' in found) open.push(found);
      else {
        files += 1;
        if (files > maxFiles) return refused('', `it contains more than ${maxFiles} files`);
        try {
          yield found;
        } finally {
          found.expire();
        }
      }
    }
  } finally {
    for (const one of open) await leave(one);
  }
}

/** A folder of the walk. Its handle stays valid after a rename. */
interface OpenFolder {
  path: string;
  handle: FileHandle;
  entries: Dir;
}

/** Open the top folder; undefined if the path is not a folder. */
async function enterTop(folder: string): Promise<OpenFolder | undefined> {
  try {
    return await enter(folder, folder, '');
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'ELOOP')) return undefined;
    throw error;
  }
}

/** Open a folder for its entries through the path `open`, and check that it still leads to the path `real`. */
async function enter(open: string, real: string, path: string): Promise<OpenFolder> {
  const handle = await openFolder(open);
  try {
    const entries = await opendir(thisHost.pathOf(handle.fd, real));
    return { path, handle, entries };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Open a folder, without following a link. */
export const openFolder = (path: string): Promise<FileHandle> =>
  open(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);

async function leave({ handle, entries }: OpenFolder): Promise<void> {
  await entries.close();
  await handle.close();
}

interface Fault {
  path: string;
  fault: string;
}

/** Read the facts of an entry; undefined if it is gone. */
async function examine(
  at: OpenFolder,
  name: string,
  folder: string,
  options: FindFilesOptions,
): Promise<OpenFolder | CurrentFile | Fault | undefined> {
  const path = at.path === '' ? name : `${at.path}/${name}`;
  const real = within(at.handle, join(folder, at.path), name);
  const fault = nameFault(name, path, options);
  if (fault !== undefined) return { path, fault };
  try {
    const stats = await lstat(real, { bigint: true });
    if (stats.isDirectory()) {
      const isTooDeep = path.split('/').length > options.maxDepth;
      if (await options.passesOver?.(path, real)) return undefined;
      if (isTooDeep) return { path, fault: `it is more than ${options.maxDepth} folders deep` };
      return await enter(real, join(folder, path), path);
    }
    const fault = kindFault(stats, options.user);
    return fault === undefined ? new CurrentFile(path, stats, real, options.user) : { path, fault };
  } catch (error) {
    const fault = faultOf(error);
    return fault === undefined ? undefined : { path, fault };
  }
}

/**
 * A found file that can be opened until it expires. After that, its folder's handle may belong to another folder.
 */
class CurrentFile implements FoundFile {
  readonly path: string;
  readonly size: number;
  readonly version: string;
  readonly written: string;
  readonly #real: string;
  readonly #user: { uid: number } | undefined;
  #isCurrent = true;

  constructor(path: string, stats: BigIntStats, real: string, user: { uid: number } | undefined) {
    this.path = path;
    this.size = Number(stats.size);
    this.version = versionOf(stats);
    this.written = [stats.dev, stats.ino, stats.size, stats.mtimeNs].join(':');
    this.#real = real;
    this.#user = user;
  }

  async open(): Promise<FileHandle> {
    if (!this.#isCurrent) throw new Error(`${this.path}: opened too late`);
    return openOwned(this.#real, this.#user);
  }

  expire(): void {
    this.#isCurrent = false;
  }
}

/** Identity and state of a file, from its inode, size and times. */
export const versionOf = ({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string =>
  [dev, ino, size, mtimeNs, ctimeNs].join(':');

/** Return a path within an open folder for system calls, by its handle if the host has such paths. */
export const within = (handle: FileHandle, folder: string, name: string): string =>
  join(thisHost.pathOf(handle.fd, folder), name);

function nameFault(name: string, path: string, { maxPathBytes }: FindFilesOptions): string | undefined {
  // Node replaces invalid UTF-8 by this character.
  if (name.includes('\ufffd')) return 'its name is not UTF-8';
  return Buffer.byteLength(path) > maxPathBytes ? `its path is longer than ${maxPathBytes} bytes` : undefined;
}

function kindFault(stats: BigIntStats, user: { uid: number } | undefined): string | undefined {
  if (stats.isSymbolicLink()) return 'it is a link';
  if (!stats.isFile()) return 'it is not a regular file';
  return user !== undefined && stats.uid !== BigInt(user.uid) ? 'it belongs to another user' : undefined;
}

/** The fault of an entry; undefined if it has been removed. */
function faultOf(error: unknown): string | undefined {
  if (hasCode(error, 'ENOENT')) return undefined;
  if (hasCode(error, 'ENOTDIR')) return 'it changed during the inspection';
  const refusal = error instanceof FileRefusedError ? error : refusalOf(error);
  if (refusal === undefined) throw error;
  return refusal.message;
}
