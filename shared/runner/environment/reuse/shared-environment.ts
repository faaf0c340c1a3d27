import { link, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import * as z from 'zod';
import { tryHostLock } from '../../host/host-lock.ts';
import { EnvironmentFolder } from '../cache/environment-folder.ts';
import { removeTree } from '../cache/remove-tree.ts';
import type { EarlierPack } from '../pack/pack-environment.ts';
import { Wheel } from './installed-wheels.ts';
import { linkTree } from './link-tree.ts';

const Facts = z.strictObject({
  /** The folder in which it was installed: its programs hold that path. */
  builtAt: z.string(),
  wheels: z.array(Wheel),
});

/** What a shared environment consists of. */
export type SharedFacts = z.infer<typeof Facts>;

/**
 * An environment of wheels that this host keeps for all projects that ask for the same, with its modules compiled. It
 * holds what package indexes published and nothing that a project's code made, since no such code ran while it was
 * installed. It lies in `<root>/.shared/<key>/`, has a marker as other environments do, and is evicted like them.
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

  /** Make `folder` from it, sealed; null where it is not there. */
  async linkTo(folder: string): Promise<(SharedFacts & { bytes: number }) | null> {
    try {
      const complete = await this.#place.read();
      if (complete === null) return null;
      await this.#place.use();
      const facts = Facts.parse(JSON.parse(await readFile(this.#facts, 'utf8')));
      await linkTree({ from: this.#tree, to: folder, builtAt: facts.builtAt, canLink: this.#canLink });
      return { ...facts, bytes: complete.bytes };
    } catch {
      // It was evicted meanwhile, or its disk fails: the environment is built then.
      await removeTree(folder);
      return null;
    }
  }

  /** Keep a sealed environment. One that is being kept at the same moment, or that is there, is left as it is. */
  async keep(folder: string, wheels: readonly Wheel[], bytes: number): Promise<void> {
    const { folder: own } = this.#place;
    await mkdir(dirname(own), { recursive: true, mode: 0o755 });
    const lock = await tryHostLock(own);
    if (lock === null) return;
    try {
      if (await this.#place.inUse()) return;
      await this.#place.wipe();
      await mkdir(own, { mode: 0o755 });
      await linkTree({ from: folder, to: this.#tree, builtAt: folder, canLink: this.#canLink });
      await writeFile(this.#facts, JSON.stringify({ builtAt: this.#tree, wheels }), { flag: 'wx' });
      await this.#place.complete({ key: basename(own), lockHash: '', buildSeconds: 0, bytes });
    } finally {
      await lock.release();
    }
  }

  /** The pack of the environment from which it was kept, where that was packed; its name says where the common part begins. */
  async pack(): Promise<EarlierPack | undefined> {
    const [name = ''] = await readdir(this.#pack).catch(() => []);
    const commonAt = Number(name);
    return /^\d+$/.test(name) ? { file: join(this.#pack, name), commonAt } : undefined;
  }

  /** Keep a pack, by a link to it: it costs no bytes while the other is there. */
  async keepPack(file: string, commonAt: number): Promise<void> {
    if ((await this.#place.read()) === null) return;
    await mkdir(this.#pack, { mode: 0o700 });
    await link(file, join(this.#pack, String(commonAt)));
  }
}
