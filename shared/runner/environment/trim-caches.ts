import { lstat, readdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import * as z from 'zod';
import { tryHostLock } from '../../host/host-lock.ts';
import { downloadsFolder } from './downloads/download-cache.ts';
import { EnvironmentFolder } from './environment-folder.ts';
import { removeWheel, wheelPointers, wheelsFolder, wheelsInUse } from './host-wheels.ts';
import { removeTree } from './remove-tree.ts';

export interface TrimmedCaches {
  /** Upper bound of the bytes on disk afterwards. It is exact after a removal. */
  bytes: number;
  removed: number;
}

/** Downloads are in use while an installation reads them, which nothing tells. */
const graceMilliseconds = 10 * 60 * 1000;

/**
 * Remove from the caches of this host what was unused for longest, until the rest has at most `maxBytes`: environments,
 * wheels that all projects share, caches of builds, and downloads. A file with several names counts once. What is in use or
 * being prepared stays, and wheels and downloads for ten minutes after their last use. Everything removed can be built
 * or downloaded again. What a killed process left half removed or half built goes first. Safe for several processes at
 * the same time.
 *
 * @param root folder of the host's environments
 * @param isExact measures again whenever something was added or removed, so that files with several names never count twice
 */
export async function trimCaches(
  root: string,
  maxBytes: number,
  { now = Date.now(), isExact = false } = {},
): Promise<TrimmedCaches> {
  for (const name of formerFolders) await removeTree(join(root, name)).catch(() => undefined);
  const measured = await readMeasured(root);
  const known = new Set(measured.keys);
  const entries = await listEntries(root, known);
  const isMeasured = entries.length === known.size && entries.every(({ path }) => known.has(path));
  const added = entries.filter(({ path }) => !known.has(path)).reduce((sum, { bytes }) => sum + bytes, 0);
  const estimate = isMeasured ? measured.bytes : measured.bytes + added;
  const suffices = isMeasured || !isExact;
  if (suffices && estimate <= maxBytes && entries.every(({ kind }) => kind !== 'left'))
    return { bytes: estimate, removed: 0 };

  const use = new DiskUse();
  for (const entry of entries) await use.add(entry.path);
  const host = join(root, wheelsFolder);
  const hasWheels = entries.some(({ kind }) => kind === 'wheel');
  const keepsWheels = hasWheels && (await wheelsInUse(host));
  const pointers = hasWheels ? await wheelPointers(host) : new Map<string, string[]>();
  const gone = new Set<string>();
  for (const entry of entries.sort((a, b) => a.used - b.used)) {
    if (entry.kind !== 'left' && use.bytes <= maxBytes) break;
    if (isBrief(entry) && entry.used > now - graceMilliseconds) continue;
    if (entry.kind === 'wheel' && keepsWheels) continue;
    // What cannot be removed keeps no other project from its run.
    if (!(await removeEntry(entry, pointers).catch(() => false))) continue;
    use.remove(entry.path);
    gone.add(entry.path);
  }
  const keys = entries.flatMap(({ path }) => (gone.has(path) ? [] : [path]));
  await writeMeasured(root, { bytes: use.bytes, keys });
  return { bytes: use.bytes, removed: gone.size };
}

/** One thing that is removed as a whole. */
interface CacheEntry {
  path: string;
  /** `wheel`, `download`: of all projects. `left`: left over from a killed build. */
  kind: 'environment' | 'wheel' | 'download' | 'left';
  /** Upper bound of its bytes. */
  bytes: number;
  /** Time of the last use in milliseconds. What is left over has none. */
  used: number;
}

const isBrief = ({ kind }: CacheEntry): boolean => kind === 'wheel' || kind === 'download';

/**
 * What versions before uv's cache shared, and version 0.1, where it may contain code of another project. Environments keep
 * their own links to the files.
 */
const formerFolders = ['.wheels', '.shared', '.wheels-2', '.shared-2'];

const keyPattern = /^[0-9a-f]{64}/;

async function listEntries(root: string, known: ReadonlySet<string>): Promise<CacheEntry[]> {
  const found: CacheEntry[] = [];
  for (const folder of await readdir(root, { withFileTypes: true }).catch(() => [])) {
    if (!folder.isDirectory()) continue;
    const path = join(root, folder.name);
    if (folder.name === downloadsFolder) found.push(...(await listBrief(path, 'download', known)));
    else if (folder.name === wheelsFolder) {
      const names = (await readdir(path)).filter((name) => /^archive-v\d+$/.test(name));
      for (const name of names) found.push(...(await listBrief(join(path, name), 'wheel', known)));
    } else found.push(...(await listEnvironments(path)));
  }
  return found;
}

/** Files of downloads, or folders of unpacked wheels, whose times are those of their last use. What is known is not measured. */
async function listBrief(
  folder: string,
  kind: 'wheel' | 'download',
  known: ReadonlySet<string>,
): Promise<CacheEntry[]> {
  const found: CacheEntry[] = [];
  for (const name of await readdir(folder).catch(() => [])) {
    const path = join(folder, name);
    const facts = await stat(path).catch(() => undefined);
    if (facts === undefined) continue;
    const bytes = !facts.isDirectory() ? facts.size : known.has(path) ? 0 : await treeBytes(path);
    found.push({ path, kind, bytes, used: facts.mtimeMs });
  }
  return found;
}

async function listEnvironments(folder: string): Promise<CacheEntry[]> {
  const names = new Set(await readdir(folder).catch(() => []));
  const found: CacheEntry[] = [];
  for (const key of new Set([...names].flatMap((name) => keyPattern.exec(name)?.[0] ?? []))) {
    const path = join(folder, key);
    const complete = await new EnvironmentFolder(folder, key).read();
    const used = await stat(`${path}.complete`).then(
      ({ mtimeMs }) => mtimeMs,
      () => 0,
    );
    if (complete !== null) found.push({ path, kind: 'environment', bytes: complete.bytes, used });
    else if ([...names].some((name) => name === key || name.startsWith(`${key}.scratch-`)))
      found.push({ path, kind: 'left', bytes: 0, used: 0 });
  }
  return found;
}

/** Remove an entry, unless a process uses or prepares it. */
async function removeEntry(
  { path, kind }: CacheEntry,
  pointers: ReadonlyMap<string, string[]>,
): Promise<boolean> {
  if (kind === 'wheel' || kind === 'download') {
    await (kind === 'wheel' ? removeWheel(path, pointers) : removeTree(path));
    return true;
  }
  const folder = new EnvironmentFolder(dirname(path), path.slice(dirname(path).length + 1));
  const lock = await tryHostLock(path);
  if (lock === null) return false;
  try {
    // Another process may have completed it since.
    if (kind === 'left' && (await folder.read()) !== null) return false;
    if (await folder.inUse()) return false;
    await folder.wipe();
    return true;
  } finally {
    await lock.release();
  }
}

/** Bytes on disk of a folder. */
export async function treeBytes(path: string): Promise<number> {
  const use = new DiskUse();
  await use.add(path);
  return use.bytes;
}

/** Bytes on disk of several folders. A file with names in several of them counts once. */
class DiskUse {
  bytes = 0;
  readonly #own = new Map<string, number>();
  readonly #linkedBy = new Map<string, string[]>();
  readonly #shared = new Map<string, { bytes: number; folders: Set<string> }>();

  async add(path: string): Promise<void> {
    await this.#walk(path, path);
  }

  /** Take a removed folder out of the sum. */
  remove(path: string): void {
    this.bytes -= this.#own.get(path) ?? 0;
    this.#own.delete(path);
    for (const inode of this.#linkedBy.get(path) ?? []) {
      const file = this.#shared.get(inode);
      if (file === undefined || !file.folders.delete(path) || file.folders.size > 0) continue;
      this.bytes -= file.bytes;
    }
  }

  async #walk(path: string, folder: string): Promise<void> {
    const facts = await lstat(path).catch(() => undefined);
    if (facts === undefined) return;
    const bytes = facts.blocks * 512;
    if (facts.isFile() && facts.nlink > 1) this.#link(`${facts.dev}:${facts.ino}`, bytes, folder);
    else {
      this.bytes += bytes;
      this.#own.set(folder, (this.#own.get(folder) ?? 0) + bytes);
    }
    if (!facts.isDirectory()) return;
    for (const name of await readdir(path).catch(() => [])) await this.#walk(join(path, name), folder);
  }

  #link(inode: string, bytes: number, folder: string): void {
    const file = this.#shared.get(inode) ?? { bytes, folders: new Set() };
    if (file.folders.size === 0) this.bytes += bytes;
    file.folders.add(folder);
    this.#shared.set(inode, file);
    const linked = this.#linkedBy.get(folder) ?? [];
    linked.push(inode);
    this.#linkedBy.set(folder, linked);
  }
}

const Measured = z.object({ bytes: z.number(), keys: z.array(z.string()) });
type Measured = z.infer<typeof Measured>;

/** The last exact measurement. What was added since counts in full, and nothing as removed, so it is an upper bound. */
async function readMeasured(root: string): Promise<Measured> {
  try {
    return Measured.parse(JSON.parse(await readFile(join(root, measuredFile), 'utf8')));
  } catch {
    return { bytes: 0, keys: [] };
  }
}

async function writeMeasured(root: string, measured: Measured): Promise<void> {
  const draft = join(root, `${measuredFile}.${process.pid}`);
  await writeFile(draft, JSON.stringify(measured), { mode: 0o600 });
  await rename(draft, join(root, measuredFile));
}

const measuredFile = '.measured.json';
