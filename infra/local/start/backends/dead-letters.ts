import { appendFile } from 'node:fs/promises';

/** Events that no function accepted, kept for the operator: the dead-letter queue. */
export class DeadLetters {
  readonly #file: string;

  /** @param file one line of JSON for each; made when the first one comes */
  constructor(file: string) {
    this.#file = file;
  }

  /** Keeps an event; resolves when it is on the disk. */
  async add(event: unknown, error: unknown): Promise<void> {
    const why = error instanceof Error ? error.message : String(error);
    const letter = { time: new Date().toISOString(), why, event };
    await appendFile(this.#file, `${JSON.stringify(letter)}\n`, { mode: 0o600, flush: true });
    process.stderr.write(`An event was not taken in; it is kept in ${this.#file}\n`);
  }
}

/**
 * Takes events to the function that a rule of EventBridge would invoke. One that is malformed becomes a dead letter at
 * once, for no other try would help; where the function fails otherwise, that is thrown, and the event is to come again.
 */
export function eventDelivery(
  handler: (event: unknown) => Promise<void>,
  deadLetters: Pick<DeadLetters, 'add'>,
): (event: unknown) => Promise<void> {
  return async (event) => {
    try {
      await handler(event);
    } catch (error) {
      if (!(error instanceof Error && error.name === 'ZodError')) throw error;
      await deadLetters.add(event, error);
    }
  };
}
