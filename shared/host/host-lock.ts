import { randomUUID } from 'node:crypto';
import { link, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { hasCode } from './has-code.ts';
import { thisHost } from './this-host.ts';

/** A lock, held until `release` or the end of its process. */
export class HostLock {
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }

  async release(): Promise<void> {
    const draft = `${this.#file}-${randomUUID()}`;
    await writeFile(draft, 'free', { flag: 'wx' });
    await rename(draft, this.#file);
  }
}

/**
 * A lock between the processes of one host. A killed holder does not keep it.
 *
 * Each holder has a file `<path>.lock.<n>` that names its process. The highest n counts. It is free if it is
 * marked as free, or if its process is gone. A process takes the lock by making n + 1 with `link`, which only one
 * process can do. It then checks again that its number is the highest: after an outdated listing, it finds a
 * higher one and withdraws. The last file stays, as the counter.
 */
export async function tryHostLock(path: string): Promise<HostLock | null> {
  const identity = await thisHost.identityOf(process.pid);
  for (;;) {
    const top = (await generations(path)).at(-1) ?? 0;
    if (top > 0) {
      const holder = await readFile(`${path}.lock.${top}`, 'utf8').catch(ignoreMissing);
      if (holder === undefined) continue;
      if (await thisHost.isRunning(holder)) return null;
    }
    const own = `${path}.lock.${top + 1}`;
    const draft = `${path}.draft-${randomUUID()}`;
    await writeFile(draft, identity, { flag: 'wx' });
    const made = await link(draft, own).then(
      () => true,
      (error: unknown) => ignoreExisting(error),
    );
    await rm(draft);
    if (!made) continue;
    const all = await generations(path);
    if (all.at(-1) !== top + 1) {
      await rm(own, { force: true });
      continue;
    }
    for (const lower of all.slice(0, -1)) await rm(`${path}.lock.${lower}`, { force: true });
    return new HostLock(own);
  }
}

async function generations(path: string): Promise<number[]> {
  const prefix = `${basename(path)}.lock.`;
  const names = await readdir(dirname(path));
  return names
    .filter((name) => name.startsWith(prefix) && /^[0-9]+$/.test(name.slice(prefix.length)))
    .map((name) => Number(name.slice(prefix.length)))
    .sort((a, b) => a - b);
}

function ignoreMissing(error: unknown): undefined {
  if (hasCode(error, 'ENOENT')) return undefined;
  throw error;
}

function ignoreExisting(error: unknown): false {
  if (hasCode(error, 'EEXIST')) return false;
  throw error;
}
