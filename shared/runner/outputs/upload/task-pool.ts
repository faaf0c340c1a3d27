/** Runs a limited number of tasks at a time. Starts no further task after a failure. */
export class TaskPool {
  readonly #most: number;
  readonly #running = new Set<Promise<void>>();
  readonly #errors: unknown[] = [];

  constructor(most: number) {
    this.#most = most;
  }

  /** Start a task as soon as fewer than the limit run. @throws the error of an earlier task; this one is dropped then */
  async add(task: () => Promise<void>): Promise<void> {
    while (this.#running.size >= this.#most) await Promise.race(this.#running);
    if (this.#errors.length > 0) throw this.#errors[0];
    const running = task().catch((error: unknown) => {
      this.#errors.push(error);
    });
    this.#running.add(running);
    void running.then(() => this.#running.delete(running));
  }

  /** Wait until no task runs. */
  async settle(): Promise<void> {
    await Promise.all(this.#running);
  }

  /** Wait until no task runs. @throws the first error of a task */
  async drain(): Promise<void> {
    await this.settle();
    if (this.#errors.length > 0) throw this.#errors[0];
  }
}
