import { randomUUID } from 'node:crypto';
import { lstat, open, readdir, readFile, rename, rm, utimes } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import * as z from 'zod';
import { tryParseJson } from '../../core/text/try-parse-json.ts';
import { thisHost } from '../../host/this-host.ts';
import { removeTree } from './remove-tree.ts';

export interface CompleteEnvironment {
  key: string;
  lockHash: string;
  buildSeconds: number;
  bytes: number;
}

const Marker = z.strictObject({
  key: z.string(),
  lock_hash: z.string(),
  build_seconds: z.number(),
  bytes: z.number(),
});

/**
 * One environment of this host: the folder `<root>/<project>/<key>/`. Files next to it, which no build can write,
 * belong to it: the marker `<key>.complete`, written last (a folder without it is incomplete); `<key>.building`
 * while this host holds the store's claim; and one file for each process that uses it.
 */
export class EnvironmentFolder {
  readonly folder: string;
  readonly #marker: string;
  readonly #building: string;

  constructor(projectFolder: string, key: string) {
    this.folder = join(projectFolder, key);
    this.#marker = `${this.folder}.complete`;
    this.#building = `${this.folder}.building`;
  }

  /** The complete environment in this folder, or null. */
  async read(): Promise<CompleteEnvironment | null> {
    const text = await readFile(this.#marker, 'utf8').catch(() => null);
    const there = await lstat(this.folder).then(
      (facts) => facts.isDirectory(),
      () => false,
    );
    if (text === null || !there) return null;
    const marker = Marker.safeParse(tryParseJson(text));
    if (!marker.success || marker.data.key !== basename(this.folder)) return null;
    const { key, lock_hash, build_seconds, bytes } = marker.data;
    return { key, lockHash: lock_hash, buildSeconds: build_seconds, bytes };
  }

  /** Mark the folder as complete. Writes the marker elsewhere, flushes it to disk and renames it. */
  async complete(environment: CompleteEnvironment): Promise<void> {
    const { key, lockHash, buildSeconds, bytes } = environment;
    await writeDurably(
      this.#marker,
      JSON.stringify({ key, lock_hash: lockHash, build_seconds: buildSeconds, bytes }),
    );
  }

  /** Remove the environment, its marker first, and the scratch folders of killed processes. */
  async wipe(): Promise<void> {
    await rm(this.#marker, { force: true });
    await removeTree(this.folder);
    for (const name of await this.#siblings('.scratch-')) await removeTree(name);
  }

  /** A scratch path next to the folder, on the same disk. `wipe` removes leftovers. */
  scratch(): string {
    return `${this.folder}.scratch-${randomUUID().slice(0, 8)}`;
  }

  /** Note the name under which this host holds the store's claim. */
  async noteClaim(holder: string): Promise<void> {
    await writeDurably(this.#building, holder);
  }

  /** The name under which a process of this host held the claim when it was killed, or null. */
  async leftClaim(): Promise<string | null> {
    return readFile(this.#building, 'utf8').catch(() => null);
  }

  async forgetClaim(): Promise<void> {
    await rm(this.#building, { force: true });
  }

  /** Mark the environment as in use by this process until the process ends. */
  async use(): Promise<void> {
    await writeDurably(`${this.folder}.use-${await thisHost.identityOf(process.pid)}`, '');
    const now = new Date();
    await utimes(this.#marker, now, now);
  }

  /** Whether a running process uses it. */
  async inUse(): Promise<boolean> {
    let used = false;
    for (const file of await this.#siblings('.use-')) {
      if (await thisHost.isRunning(file.slice(`${this.folder}.use-`.length))) used = true;
      else await rm(file, { force: true });
    }
    return used;
  }

  async #siblings(suffix: string): Promise<string[]> {
    const prefix = `${basename(this.folder)}${suffix}`;
    const names = await readdir(dirname(this.folder));
    return names.filter((name) => name.startsWith(prefix)).map((name) => join(dirname(this.folder), name));
  }
}

async function writeDurably(path: string, text: string): Promise<void> {
  const draft = `${path}.${randomUUID().slice(0, 8)}`;
  const file = await open(draft, 'wx', 0o644);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(draft, path);
  const folder = await open(dirname(path));
  await folder.sync().finally(() => folder.close());
}
