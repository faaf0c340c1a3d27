import { constants, linkSync, mkdirSync, readdirSync, readlinkSync, symlinkSync } from 'node:fs';
import { copyFile, link, lstat, mkdir, readdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import * as z from 'zod';
import { tryHostLock } from '../../host/host-lock.ts';
import { EnvironmentFolder } from './environment-folder.ts';
import { Wheel } from './installed-wheels.ts';
import { type EarlierPack, holdsPath } from './pack/pack-environment.ts';
import { removeTree } from './remove-tree.ts';

/** The content of a shared environment. */
type SharedFacts = z.infer<typeof Facts>;

const Facts = z.strictObject({
  /** The folder of the installation. Its programs contain this path. */
  builtAt: z.string(),
  wheels: z.array(Wheel),
});

/**
 * A compiled environment of wheels that this host keeps for all projects with the same request. It contains only
 * files that package indexes published, because installing wheels runs no code of a project. It is in
 * `<root>/.shared/<key>/`, and is marked and evicted like other environments.
 */
export class SharedEnvironment {
  readonly #place: EnvironmentFolder;
  readonly #tree: string;
  readonly #facts: string;
  readonly #canLink: boolean;
  readonly #pack: string;

  /** @param key of a request without a project's folder @param canLink whether no program of a job can change its files */
  constructor(folder: string, key: string, canLink: boolean) {
    this.#canLink = canLink;
    this.#place = new EnvironmentFolder(folder, key);
    this.#tree = join(this.#place.folder, 'environment');
    this.#facts = join(this.#place.folder, 'wheels.json');
    this.#pack = join(this.#place.folder, 'pack');
  }

  /** Create the sealed environment `folder` from it; null if it does not exist. */
  async linkTo(folder: string): Promise<(SharedFacts & { bytes: number }) | null> {
    try {
      const complete = await this.#place.read();
      if (complete === null) return null;
      await this.#place.use();
      const facts = Facts.parse(JSON.parse(await readFile(this.#facts, 'utf8')));
      await linkTree({ from: this.#tree, to: folder, builtAt: facts.builtAt, canLink: this.#canLink });
      return { ...facts, bytes: complete.bytes };
    } catch {
      // It was evicted, or its disk failed: the environment is built instead.
      await removeTree(folder);
      return null;
    }
  }

  /** Keep a sealed environment, unless it is in use or another process is keeping it. Returns whether it did. */
  async keep(folder: string, wheels: readonly Wheel[], bytes: number): Promise<boolean> {
    const { folder: own } = this.#place;
    await mkdir(dirname(own), { recursive: true, mode: 0o755 });
    const lock = await tryHostLock(own);
    if (lock === null) return false;
    try {
      if (await this.#place.inUse()) return false;
      await this.#place.wipe();
      await mkdir(own, { mode: 0o755 });
      await linkTree({ from: folder, to: this.#tree, builtAt: folder, canLink: this.#canLink });
      await writeFile(this.#facts, JSON.stringify({ builtAt: this.#tree, wheels }), { flag: 'wx' });
      await this.#place.complete({ key: basename(own), lockHash: '', buildSeconds: 0, bytes });
      return true;
    } finally {
      await lock.release();
    }
  }

  /** The pack of the original environment, if there is one. Its name is the offset of the common part. */
  async pack(): Promise<EarlierPack | undefined> {
    const [name = ''] = await readdir(this.#pack).catch(() => []);
    const commonAt = Number(name);
    return /^\d+$/.test(name) ? { file: join(this.#pack, name), commonAt } : undefined;
  }

  /** Keep a pack by a hard link, which takes no space while the original exists. */
  async keepPack(file: string, commonAt: number): Promise<void> {
    if ((await this.#place.read()) === null) return;
    await mkdir(this.#pack, { mode: 0o700 });
    await link(file, join(this.#pack, String(commonAt)));
  }
}

interface LinkedTree {
  from: string;
  to: string;
  /** The path that files of `from` contain. */
  builtAt: string;
  canLink: boolean;
}

/**
 * Recreate a sealed virtual environment in another folder. Files are hard-linked if `canLink` (root owns them, and
 * jobs do not run as root), else copied with their times, because compiled modules are valid only for them. Files that
 * contain the folder's path get the new one. Only copies are asynchronous, as in `link-wheel.ts`.
 */
async function linkTree(tree: LinkedTree, path = ''): Promise<void> {
  const source = join(tree.from, path);
  const target = join(tree.to, path);
  mkdirSync(target, { mode: 0o755 });
  for (const entry of readdirSync(source, { withFileTypes: true })) {
    const within = path === '' ? entry.name : `${path}/${entry.name}`;
    const [old, made] = [join(source, entry.name), join(target, entry.name)];
    if (entry.isDirectory()) await linkTree(tree, within);
    else if (entry.isSymbolicLink()) symlinkSync(readlinkSync(old), made);
    else if (holdsPath(within)) await rewrite(old, made, tree);
    else if (tree.canLink) linkSync(old, made);
    else await copy(old, made);
  }
}

async function rewrite(old: string, made: string, { builtAt, to }: LinkedTree): Promise<void> {
  const { mode } = await lstat(old);
  const text = (await readFile(old, 'latin1')).replaceAll(builtAt, to);
  await writeFile(made, text, { flag: 'wx', mode: mode & 0o777, encoding: 'latin1' });
}

async function copy(old: string, made: string): Promise<void> {
  const { atime, mtime } = await lstat(old);
  await copyFile(old, made, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  await utimes(made, atime, mtime);
}

/** Folder of the environments shared by all projects. Ids of projects do not begin with a dot. Another name leaves the former ones. */
export const reuseFolder = '.shared-2';
