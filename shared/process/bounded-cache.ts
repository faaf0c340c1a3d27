/** Values in memory up to a number of bytes; the one that was not used for longest goes first. */
export class BoundedCache<V> {
  readonly #most: number;
  readonly #entries = new Map<string, { value: V; bytes: number }>();
  #bytes = 0;

  constructor(most: number) {
    this.#most = most;
  }

  get(key: string): V | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.value;
  }

  /** Keep a value; one larger than a quarter of the whole is not kept. */
  put(key: string, value: V, bytes: number): void {
    this.#remove(key);
    if (bytes > this.#most / 4) return;
    this.#entries.set(key, { value, bytes });
    this.#bytes += bytes;
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.#most) return;
      this.#remove(oldest);
    }
  }

  #remove(key: string): void {
    this.#bytes -= this.#entries.get(key)?.bytes ?? 0;
    this.#entries.delete(key);
  }
}
