import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { link, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname } from 'node:path';

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
 * A lock between the processes of one host that a killed holder does not keep.
 *
 * Each holding is a file `<path>.lock.<n>` that names its process; the highest n counts, and it is free when it is
 * marked so or its process is gone. A taker makes n + 1 with `link`, of which only one can succeed, and checks again
 * whether it is the highest: a taker with an old listing finds a higher one and withdraws. The last file stays, as
 * the counter.
 */
export async function tryHostLock(path: string): Promise<HostLock | null> {
  const identity = processIdentity(process.pid);
  for (;;) {
    const top = (await generations(path)).at(-1) ?? 0;
    if (top > 0) {
      const holder = await readFile(`${path}.lock.${top}`, 'utf8').catch(ignoreMissing);
      if (holder === undefined) continue;
      if (isRunning(holder)) return null;
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

/**
 * Return a unique identity of a process: id, start time and boot. The system reuses ids. Off Linux it is only the
 * id.
 */
export function processIdentity(pid: number): string {
  try {
    const status = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // Field 22, counted from after the program's name, which may itself hold spaces and brackets.
    const started = status.slice(status.lastIndexOf(')') + 2).split(' ')[19] ?? '';
    return `${pid}-${started}-${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim().slice(0, 8)}`;
  } catch {
    return String(pid);
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
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
  throw error;
}

/** Whether the process of an identity still runs. */
export function isRunning(identity: string): boolean {
  const pid = Number(/^[0-9]{1,10}/.exec(identity)?.[0]);
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EPERM')) return false;
  }
  return processIdentity(pid) === identity;
}

function ignoreExisting(error: unknown): false {
  if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
  throw error;
}
