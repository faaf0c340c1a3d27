/** Does a few things at a time. Once one has failed no other is begun. */
export class TaskPool {
  readonly #most: number;
  readonly #running = new Set<Promise<void>>();
  readonly #errors: unknown[] = [];

  constructor(most: number) {
    this.#most = most;
  }

  /** Begins a task as soon as there is a place for it. @throws what an earlier task threw; the task is dropped then */
  async add(task: () => Promise<void>): Promise<void> {
    while (this.#running.size >= this.#most) await Promise.race(this.#running);
    if (this.#errors.length > 0) throw this.#errors[0];
    const running = task().catch((error: unknown) => {
      this.#errors.push(error);
    });
    this.#running.add(running);
    void running.then(() => this.#running.delete(running));
  }

  /** Waits until nothing runs any more. */
  async settle(): Promise<void> {
    await Promise.all(this.#running);
  }

  /** The same. @throws what a task threw */
  async drain(): Promise<void> {
    await this.settle();
    if (this.#errors.length > 0) throw this.#errors[0];
  }
}
