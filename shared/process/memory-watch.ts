import { thisHost } from '../host/this-host.ts';
import { findProcesses, type ProcessSelector } from './process-tree.ts';

const firstMilliseconds = 100;

/** Milliseconds between two listings of all processes. A listing takes longer than a sum. */
const listMilliseconds = 1_000;

/** Growth since the last exact count that triggers another one. */
const recountGrowth = 1.02;

/**
 * Watches the resident memory of a process tree and reports when it exceeds a limit. The peak counts shared pages
 * once per process, so it is an upper bound for forked workers. The comparison with the limit counts shared pages
 * once.
 */
export class MemoryWatch {
  /** The largest sum, in bytes; null before the first one. */
  peakRssBytes: number | null = null;
  /** Resolves when the limit is exceeded; never without a limit. */
  readonly exceeded: Promise<void>;
  readonly #selection: () => ProcessSelector;
  readonly #limitBytes: number;
  readonly #onListing: ((listing: TreeListing) => void) | undefined;
  /** The largest sum since the last listing. */
  #listingPeak = 0;
  #reportExceeded: () => void = () => {};
  #pids: readonly number[] = [];
  #listedAt = Number.NEGATIVE_INFINITY;
  /** The sum at the last exact count that was within the limit. */
  #countedAt = 0;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  /** @param onListing receives the use of the tree about once a second */
  constructor(
    selection: () => ProcessSelector,
    limitBytes?: number,
    onListing?: (listing: TreeListing) => void,
  ) {
    this.#selection = selection;
    this.#onListing = onListing;
    this.#limitBytes = limitBytes ?? Number.POSITIVE_INFINITY;
    this.exceeded = new Promise((resolve) => {
      this.#reportExceeded = resolve;
    });
    this.#plan(firstMilliseconds);
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  #plan(milliseconds: number): void {
    this.#timer = setTimeout(() => void this.#measure(), milliseconds);
  }

  async #measure(): Promise<void> {
    const isListing = performance.now() - this.#listedAt >= listMilliseconds;
    const bytes = isListing ? await this.#list() : await thisHost.residentBytes(this.#pids);
    this.#listingPeak = Math.max(this.#listingPeak, bytes);
    if (bytes > 0) this.peakRssBytes = Math.max(this.peakRssBytes ?? 0, bytes);
    if (bytes > this.#limitBytes && (isListing || bytes > this.#countedAt * recountGrowth)) {
      if ((await thisHost.proportionalBytes(this.#pids)) > this.#limitBytes) this.#reportExceeded();
      else this.#countedAt = bytes;
    }
    const isLimited = Number.isFinite(this.#limitBytes);
    if (!this.#stopped) this.#plan(isLimited ? thisHost.memoryMilliseconds : listMilliseconds);
  }

  async #list(): Promise<number> {
    this.#listedAt = performance.now();
    // Omit the marker. It would require reading the environment of every process.
    const { marker: _, ...selector } = this.#selection();
    // A failed listing must not disturb the command.
    const found = await findProcesses(selector).catch(() => []);
    this.#pids = found.map(({ pid }) => pid);
    const bytes = found.reduce((sum, one) => sum + one.residentBytes, 0);
    if (found.length > 0)
      this.#onListing?.({
        pids: this.#pids,
        bytes,
        peakBytes: Math.max(bytes, this.#listingPeak),
        cpuSeconds: found.reduce((sum, one) => sum + one.cpuSeconds, 0),
      });
    this.#listingPeak = 0;
    return bytes;
  }
}

/** Use of a process tree when its processes were listed. */
export interface TreeListing {
  pids: readonly number[];
  /** Resident memory, shared pages once per process. */
  bytes: number;
  /** Greatest resident memory since the last listing. */
  peakBytes: number;
  /** Processor time of its present processes and of the ended children that they waited for. */
  cpuSeconds: number;
}
