/** Share of the time that is left at the start of a search which stays for reading, measuring and storing its result. */
const keptShare = 0.15;

/**
 * The time of a search. A search that stops in time keeps the best result so far; a job that its time limit ends
 * has none.
 */
export class SearchTime {
  readonly #secondsLeft: () => number;
  /** Seconds that the work after the search may need. */
  readonly #kept: number;
  /** Seconds of the latest trial, which the next one is expected to take. */
  #latest = 0;
  /** Names of what was not tried for want of time. */
  readonly untried: string[] = [];

  /**
   * @param secondsLeft seconds until the work must have ended
   * @param after seconds of the measurements after the search that take a fixed time
   */
  constructor(secondsLeft: () => number = () => Number.POSITIVE_INFINITY, after = 0) {
    this.#secondsLeft = secondsLeft;
    const all = secondsLeft();
    this.#kept = Number.isFinite(all) ? Math.min(all / 2, all * keptShare + after) : 0;
  }

  /** Seconds that the search may still take. */
  get left(): number {
    return Math.max(0, this.#secondsLeft() - this.#kept);
  }

  /** Whether a trial as long as the latest would not end in time. */
  get isOver(): boolean {
    return !this.hasRoomFor(1);
  }

  /** Whether so many trials, each as long as the latest, would end in time. */
  hasRoomFor(trials: number): boolean {
    return this.left > trials * this.#latest;
  }

  /** Run a trial and note how long it takes. */
  async measured<T>(trial: () => Promise<T>): Promise<T> {
    const before = this.#secondsLeft();
    try {
      return await trial();
    } finally {
      if (Number.isFinite(before)) this.#latest = Math.max(0, before - this.#secondsLeft());
    }
  }

  /** The sentence of the receipt; none if everything was tried. */
  get notes(): string[] {
    const { untried } = this;
    return untried.length === 0
      ? []
      : [`The job's time ended the search before it tried ${[...new Set(untried)].join('; ')}.`];
  }
}
