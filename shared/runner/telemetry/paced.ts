/** Calls a function when asked, at most once per interval. Requests within an interval are one call at its end. */
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

  /** Drop a call that is still due. */
  end(): void {
    clearTimeout(this.#timer);
  }
}
