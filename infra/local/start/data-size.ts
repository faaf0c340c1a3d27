import { statfs } from 'node:fs/promises';
import * as z from 'zod';
import { bytesText } from '../../../shared/core/text/bytes-text.ts';
import { readJson } from '../../../shared/core/text/read-json.ts';
import { trimCaches } from '../../../shared/runner/environment/trim-caches.ts';
import { CommandError } from '../../command/command-error.ts';
import { writeDurably } from '../batch/durable-file.ts';
import type { DataFolder } from './data-folder.ts';
import { diskUse, namesIn } from './data-folder-cleanup.ts';
import type { JobFolders } from './job-folders.ts';

/**
 * Keeps the data folder below its limit. Only caches are removed: environments, wheels and downloads, those unused for
 * longest first. Records, sources, data sets, models and artifacts stay, however many they are.
 */
export class DataSize {
  readonly limit: number;
  readonly #data: Pick<DataFolder, 'path' | 'within'>;
  readonly #folders: JobFolders;
  #kept: number;
  #total: number;
  #free = 0;
  #isWarned = false;

  private constructor(
    data: Pick<DataFolder, 'path' | 'within'>,
    folders: JobFolders,
    limit: number,
    last: LastSize,
  ) {
    this.#data = data;
    this.#folders = folders;
    this.limit = limit;
    this.#kept = last.kept;
    this.#total = last.total;
  }

  /** @param limit in bytes. Default: half of what the disk has for this folder */
  static async of(
    data: Pick<DataFolder, 'path' | 'within'>,
    folders: JobFolders,
    limit: number | undefined,
  ): Promise<DataSize> {
    const last = (await readJson(data.within(sizeFile), LastSize)) ?? { kept: 0, total: 0 };
    const free = await freeBytes(data.path);
    return new DataSize(data, folders, limit ?? Math.ceil((free + last.total) / 2), last);
  }

  /**
   * Bytes that the caches may have, by the last measurement: at least 256 MB, so that environments can be built. A tenth
   * of the limit stays free for what is added until the next removal, such as an environment that is being built.
   */
  get cacheBytes(): number {
    return Math.max(minCacheBytes, Math.floor(this.limit * (1 - freePart)) - this.#kept);
  }

  /** The size by the last measurement, for people: `12.3 GB of at most 40.0 GB`. */
  get text(): string {
    const most = `at most ${bytesText(this.limit)}`;
    return this.#total === 0 ? most : `${bytesText(this.#total)} of ${most}`;
  }

  /** Measure the folder, and remove caches above the limit. Returns a warning if it still is above. */
  async check(): Promise<string | undefined> {
    const { work, environments } = this.#folders;
    this.#free = await freeBytes(this.#data.path);
    let kept = 0;
    for (const name of await namesIn(this.#data.path)) {
      const path = this.#data.within(name);
      // Folders of runs end with them.
      if (path !== work && path !== environments) kept += await diskUse(path);
    }
    this.#kept = kept;
    const { bytes } = await trimCaches(environments, this.cacheBytes, { isExact: true });
    this.#total = kept + bytes;
    await writeDurably(
      this.#data.within(sizeFile),
      JSON.stringify({ kept, total: this.#total, limit: this.limit }),
    );
    return this.#total > this.limit ? this.#warning(bytes) : undefined;
  }

  /**
   * Check soon, and then every minute, until `stop`. A folder of so many files that this would take more than a
   * hundredth of the time is checked less often, but at once when the disk lost a twentieth of the limit meanwhile. A
   * warning is printed once until the folder is below its limit again.
   */
  watch(warn: (text: string) => void): { stop: () => Promise<void> } {
    let running: Promise<void> | undefined;
    let timer: NodeJS.Timeout | undefined;
    let isStopped = false;
    const later = (milliseconds: number) => {
      if (isStopped) return;
      timer = setTimeout(() => {
        running = run();
      }, milliseconds);
      timer.unref();
    };
    let next = 0;
    const run = async (): Promise<void> => {
      const begun = performance.now();
      if (begun < next && !(await this.#hasGrown())) {
        later(everyMilliseconds);
        return;
      }
      try {
        const warning = await this.check();
        if (warning !== undefined && !this.#isWarned) warn(warning);
        this.#isWarned = warning !== undefined;
      } catch {
        // A folder may be removed while it is measured. The next check repeats it.
      }
      const ended = performance.now();
      next = ended + Math.min(longestPauseMilliseconds, pauseForEach * (ended - begun));
      later(everyMilliseconds);
    };
    later(firstMilliseconds);
    return {
      async stop() {
        isStopped = true;
        clearTimeout(timer);
        await running;
      },
    };
  }

  /** Whether the disk has lost much room since the last check began. */
  async #hasGrown(): Promise<boolean> {
    return this.#free - (await freeBytes(this.#data.path)) > this.limit * grownPart;
  }

  #warning(cacheBytes: number): string {
    return [
      `The data folder has ${bytesText(this.#total)}, more than its limit of ${bytesText(this.limit)}:`,
      `${bytesText(this.#kept)} of records, sources, data sets, models and artifacts, and ${bytesText(cacheBytes)} of`,
      'environments and downloads in use. Delete experiments, models or projects, or raise --data-limit.',
    ].join(' ');
  }
}

const LastSize = z.object({ kept: z.number(), total: z.number() });
type LastSize = z.infer<typeof LastSize>;

/** The last measurement, in the data folder. `GET /` reads it. */
export const sizeFile = 'size.json';

const minCacheBytes = 256_000_000;
const freePart = 0.1;

const firstMilliseconds = 3000;
const everyMilliseconds = 60_000;
/** Milliseconds between two checks for each that a check takes. */
const pauseForEach = 100;
/** On a busy machine a check takes long, so its duration alone says little. */
const longestPauseMilliseconds = 10 * 60_000;
/** Part of the limit that the disk may lose before the next check. */
const grownPart = 0.05;

async function freeBytes(path: string): Promise<number> {
  const { bavail, bsize } = await statfs(path);
  return bavail * bsize;
}

/** Parse a size such as `40GB` or `500 MB`. @throws CommandError */
export function readDataLimit(text: string | undefined): number | undefined {
  if (text === undefined || text === '') return undefined;
  const [, number, unit = ''] = /^(\d+(?:\.\d+)?) ?(MB|GB|TB)$/i.exec(text) ?? [];
  const bytes = Number(number) * (factors[unit.toUpperCase()] ?? Number.NaN);
  if (bytes >= 1e9) return Math.floor(bytes);
  throw new CommandError(`--data-limit must be a size of at least 1GB, such as 40GB, not "${text}".`);
}

const factors: Readonly<Record<string, number>> = { MB: 1e6, GB: 1e9, TB: 1e12 };
