import { findProcesses, type ProcessSelector } from './process-tree.ts';

const FIRST_MS = 100;
const INTERVAL_MS = 1_000;

/**
 * Watches the resident memory of a process tree, about once a second. Pages that its processes share
 * are counted for each of them, so for forked workers the figure is an upper bound.
 */
export class MemorySampler {
  /** The largest sum seen, in bytes; null before the first look. */
  peakRssBytes: number | null = null;
  readonly #selection: () => ProcessSelector;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(selection: () => ProcessSelector) {
    this.#selection = selection;
    this.#plan(FIRST_MS);
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  #plan(milliseconds: number): void {
    this.#timer = setTimeout(() => void this.#sample(), milliseconds);
  }

  async #sample(): Promise<void> {
    // The figure is an extra: not being able to look must not disturb the command.
    // The marker is left out, because it means reading the environment of every process there is.
    const { marker: _, ...selector } = this.#selection();
    const found = await findProcesses(selector).catch(() => []);
    const bytes = found.reduce((sum, { residentBytes }) => sum + residentBytes, 0);
    if (found.length > 0) this.peakRssBytes = Math.max(this.peakRssBytes ?? 0, bytes);
    if (!this.#stopped) this.#plan(INTERVAL_MS);
  }
}
