import { median } from '../bench/figure.ts';
import { memoryOfTree } from '../bench/memory-of-tree.ts';

const everyMilliseconds = 1_000;
/** Processes that are there for all of the time; those of jobs come and go. */
const lasting = new Set(['service', 's3', 'dynoxide']);

/** Looks again and again at the memory of the processes that make up a service. */
export class MemorySampler {
  readonly #root: number;
  #timer: NodeJS.Timeout | undefined;
  #found = new Map<string, number[]>();

  /** `root` is the process of which they are descendants. */
  constructor(root: number) {
    this.#root = root;
  }

  start(): void {
    this.#found = new Map();
    this.#timer = setInterval(() => void this.#sample(), everyMilliseconds);
  }

  async #sample(): Promise<void> {
    const found = this.#found;
    // A job may end while its process is looked at.
    const memory = await memoryOfTree(this.#root).catch(() => undefined);
    for (const { name, rss } of memory?.processes ?? []) {
      if (lasting.has(name)) found.set(name, [...(found.get(name) ?? []), rss]);
    }
  }

  /** Resident megabytes of each process: the middle of what was seen since the start. */
  stop(): Map<string, number> {
    clearInterval(this.#timer);
    return new Map([...this.#found].map(([name, values]) => [name, median(values)]));
  }
}
