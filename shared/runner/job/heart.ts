/** When a container renewed its lease last: by a heartbeat, or by a chunk of its log or metrics. */
export class Heart {
  #at = performance.now();

  /** Note that the lease was renewed. */
  beaten(): void {
    this.#at = performance.now();
  }

  /** Milliseconds since the last renewal. */
  get age(): number {
    return performance.now() - this.#at;
  }
}
