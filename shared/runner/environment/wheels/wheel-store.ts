import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, stat, utimes, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import * as z from 'zod';
import { extractArchive } from '../../../archive/extract-archive.ts';
import { tryParseJson } from '../../../core/text/try-parse-json.ts';
import { tryHostLock } from '../../../host/host-lock.ts';
import { normalName } from '../dependencies/python-requirements.ts';
import { EnvironmentError } from '../environment-error.ts';
import { EnvironmentFolder } from '../environment-folder.ts';
import { sealEnvironment } from '../pack/seal-environment.ts';

const Facts = z.strictObject({
  name: z.string(),
  version: z.string(),
  /** Of the file of the index: the wheel, or the source distribution that it was built from. */
  sha256: z.string(),
  isBuilt: z.boolean(),
  /** The interpreter that compiled it and, for a built one, the digest of what its build could reach. */
  builtFor: z.string(),
  bytes: z.number(),
});

/** A wheel that this host keeps, unpacked and compiled. */
export type KeptWheel = z.infer<typeof Facts> & { tree: string };

/** A wheel to keep. `file` has been compared with the hash of its index, or was built from what has. */
export type NewWheel = Pick<KeptWheel, 'name' | 'version' | 'sha256' | 'isBuilt'> & { file: string };

/** What a wheel may contain: PyTorch for CUDA has 4 GB and 20,000 files. */
const limits = { maxEntries: 300_000, maxBytes: 30 * 1024 ** 3, maxPathBytes: 1024, maxDepth: 64 };

/**
 * Wheels of all projects, unpacked and compiled, in `<root>/.wheels/<key>/`. The supervisor unpacks files that have the
 * hash of their index, so no project can change what another one gets. They are marked and evicted like environments.
 */
export class WheelStore {
  readonly #folder: string;
  readonly #builtFor: (isBuilt: boolean) => string;
  readonly #sharesBuilt: boolean;

  /**
   * @param root folder of the host's environments
   * @param interpreter facts of the interpreter that loads the wheels
   * @param reach the digest of what builds reach, which may have other tools for a build; null if a build must not be
   *   shared
   */
  constructor(root: string, interpreter: readonly string[], reach: string | null) {
    this.#folder = join(root, wheelsFolder);
    this.#builtFor = (isBuilt) => JSON.stringify([...interpreter, ...(isBuilt ? [reach] : [])]);
    this.#sharesBuilt = reach !== null;
  }

  /** The wheels for this interpreter, the last used one of each name. */
  async known(): Promise<KeptWheel[]> {
    const found: { wheel: KeptWheel; used: number }[] = [];
    for (const name of await readdir(this.#folder).catch(() => [])) {
      const [, key] = /^([0-9a-f]{64})\.complete$/.exec(name) ?? [];
      if (key === undefined) continue;
      const folder = join(this.#folder, key);
      const facts = Facts.safeParse(
        tryParseJson(await readFile(join(folder, 'wheel.json'), 'utf8').catch(() => '')),
      );
      if (!facts.success || facts.data.builtFor !== this.#builtFor(facts.data.isBuilt)) continue;
      if (facts.data.isBuilt && !this.#sharesBuilt) continue;
      if (this.#keyOf(facts.data) !== key) continue;
      const used = await stat(join(this.#folder, name)).catch(() => undefined);
      found.push({ wheel: { ...facts.data, tree: join(folder, 'tree') }, used: used?.mtimeMs ?? 0 });
    }
    const latest = found.sort((a, b) => a.used - b.used).map(({ wheel }) => [wheel.name, wheel] as const);
    return [...new Map(latest).values()];
  }

  /** Note the use of a wheel: those unused for longest are removed first. */
  async noteUse({ tree }: KeptWheel): Promise<void> {
    const now = new Date();
    await utimes(`${tree.slice(0, -'/tree'.length)}.complete`, now, now);
  }

  /**
   * Unpack and compile wheels, and keep them. Those that must not be shared stay in `scratch`.
   * @param scratch a new folder on the same disk
   * @param compile compiles all modules below a folder, as `owner` if given, which has no other rights
   * @throws ArchiveError for a damaged wheel; EnvironmentError for one that cannot be sealed
   */
  async keep(
    wheels: readonly NewWheel[],
    scratch: string,
    compile: (folder: string) => Promise<void>,
    owner?: { uid: number; gid: number },
  ): Promise<KeptWheel[]> {
    await mkdir(this.#folder, { recursive: true, mode: 0o755 });
    await mkdir(scratch, { mode: 0o755 });
    const unpacked: { wheel: NewWheel; folder: string }[] = [];
    for (const wheel of wheels) {
      const folder = join(scratch, this.#keyOf(wheel));
      await mkdir(folder, { mode: 0o755 });
      await extractArchive({ file: wheel.file, into: join(folder, 'tree'), limits, ...(owner && { owner }) });
      await requireOwnFacts(join(folder, 'tree'), wheel);
      unpacked.push({ wheel, folder });
    }
    await compile(scratch);
    const kept: KeptWheel[] = [];
    for (const { wheel, folder } of unpacked) {
      const { bytes } = sealEnvironment(join(folder, 'tree'), { interpreters: [], ...(owner && { owner }) });
      const { name, version, sha256, isBuilt } = wheel;
      const facts = { name, version, sha256, isBuilt, builtFor: this.#builtFor(isBuilt), bytes };
      await writeFile(join(folder, 'wheel.json'), JSON.stringify(facts), { flag: 'wx' });
      const place = isBuilt && !this.#sharesBuilt ? folder : await this.#place(folder, bytes);
      kept.push({ ...facts, tree: join(place, 'tree') });
    }
    return kept;
  }

  /** Move a complete wheel to its place, unless it is there. Returns the place. */
  async #place(folder: string, bytes: number): Promise<string> {
    const key = basename(folder);
    const place = new EnvironmentFolder(this.#folder, key);
    const lock = await tryHostLock(place.folder);
    // Another process is keeping the same one: this one serves this build alone.
    if (lock === null) return folder;
    try {
      if ((await place.read()) !== null) return place.folder;
      await place.wipe();
      await rename(folder, place.folder);
      await place.complete({ key, lockHash: '', buildSeconds: 0, bytes });
      return place.folder;
    } finally {
      await lock.release();
    }
  }

  /**
   * Name and version count, too: code of a package runs while pip writes its plan, and could state there that it is built
   * from the source of another one.
   */
  #keyOf = ({ name, version, sha256, isBuilt }: Omit<NewWheel, 'file'>): string =>
    createHash('sha256')
      .update(JSON.stringify([name, version, sha256, this.#builtFor(isBuilt)]))
      .digest('hex');
}

/**
 * Refuse a wheel that states another package than its own. pip would take that one for installed in every project.
 *
 * @throws EnvironmentError
 */
async function requireOwnFacts(tree: string, { name, version }: NewWheel): Promise<void> {
  const stated = (await readdir(tree)).filter((one) => /\.(?:dist|egg)-info$/i.test(one)).sort();
  const [own = ''] = stated;
  if (stated.length === 1 && own.endsWith('.dist-info') && normalName(own.split('-')[0] ?? '') === name)
    return;
  throw new EnvironmentError(
    'install-failed',
    `the wheel of ${name} ${version} states ${stated.join(', ') || 'no package'}`,
  );
}

/** Folder of the wheels of all projects. Ids of projects do not begin with a dot. Another name leaves the former ones. */
export const wheelsFolder = '.wheels-2';
