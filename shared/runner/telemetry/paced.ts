/** Does something when asked, but at most once in a time; what is asked for meanwhile is done once, at its end. */
export class Paced {
  readonly #milliseconds: number;
  readonly #act: () => void;
  #last = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;

  constructor(milliseconds: number, act: () => void) {
    this.#milliseconds = milliseconds;
    this.#act = act;
  }

  ask(): void {
    if (this.#timer !== undefined) return;
    const wait = Math.max(0, this.#last + this.#milliseconds - performance.now());
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#last = performance.now();
      this.#act();
    }, wait).unref();
  }

  /** What is still asked for is no longer done. */
  end(): void {
    clearTimeout(this.#timer);
  }
}
