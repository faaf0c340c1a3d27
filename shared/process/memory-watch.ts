import { findProcesses, type ProcessSelector } from './process-tree.ts';
import { proportionalBytes, residentBytes } from './proportional-memory.ts';

const FIRST_MS = 100;
/** Between two looks at the processes that are known: a process can take a gigabyte in a second. */
const LOOK_MS = 50;
/** Between two lists of all processes, which cost more. */
const LIST_MS = 1_000;
/** How much more than at the last exact count there must be for another one. */
const GROWTH = 1.02;

/**
 * Watches the resident memory of a process tree, and tells when it is more than a limit. Pages that its processes share
 * are counted for each of them, so for forked workers the peak is an upper bound; against the limit they count once.
 */
export class MemoryWatch {
  /** The largest sum seen, in bytes; null before the first look. */
  peakRssBytes: number | null = null;
  /** Resolves when the limit is passed; never without one. */
  readonly exceeded: Promise<void>;
  readonly #selection: () => ProcessSelector;
  readonly #limitBytes: number;
  #tell: () => void = () => {};
  #pids: readonly number[] = [];
  #listedAt = Number.NEGATIVE_INFINITY;
  /** The sum at the last exact count that was within the limit. */
  #countedAt = 0;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(selection: () => ProcessSelector, limitBytes?: number) {
    this.#selection = selection;
    this.#limitBytes = limitBytes ?? Number.POSITIVE_INFINITY;
    this.exceeded = new Promise((resolve) => {
      this.#tell = resolve;
    });
    this.#plan(FIRST_MS);
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  #plan(milliseconds: number): void {
    this.#timer = setTimeout(() => void this.#look(), milliseconds);
  }

  async #look(): Promise<void> {
    const isListing = performance.now() - this.#listedAt >= LIST_MS;
    const bytes = isListing ? await this.#list() : this.#sum();
    if (bytes > 0) this.peakRssBytes = Math.max(this.peakRssBytes ?? 0, bytes);
    if (bytes > this.#limitBytes && (isListing || bytes > this.#countedAt * GROWTH)) {
      if (this.#exactSum() > this.#limitBytes) this.#tell();
      else this.#countedAt = bytes;
    }
    if (!this.#stopped) this.#plan(Number.isFinite(this.#limitBytes) ? LOOK_MS : LIST_MS);
  }

  async #list(): Promise<number> {
    this.#listedAt = performance.now();
    // The marker is left out, because it means reading the environment of every process there is.
    const { marker: _, ...selector } = this.#selection();
    // Not being able to look must not disturb the command.
    const found = await findProcesses(selector).catch(() => []);
    this.#pids = found.map(({ pid }) => pid);
    return found.reduce((sum, one) => sum + one.residentBytes, 0);
  }

  #sum(): number {
    return this.#pids.reduce((sum, pid) => sum + (residentBytes(pid) ?? 0), 0);
  }

  #exactSum(): number {
    return this.#pids.reduce((sum, pid) => sum + (proportionalBytes(pid) ?? residentBytes(pid) ?? 0), 0);
  }
}
