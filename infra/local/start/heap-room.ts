import { setFlagsFromString } from 'node:v8';

/**
 * Let the heap grow while the service is busy, and keep it small otherwise. `note` counts a request. The heap may
 * grow from the 150th request within ten seconds on, and shrinks after ten seconds with fewer.
 */
export class HeapRoom {
  readonly #setFlag: SetFlag;
  #requests = 0;
  #looking: NodeJS.Timeout | undefined;
  #hasRoom = false;

  /** @param setFlag sets a V8 flag of the process; tests replace it */
  constructor(setFlag: SetFlag = setFlagsFromString) {
    this.#setFlag = setFlag;
  }

  note(): void {
    this.#requests += 1;
    // The timer must not keep the process running.
    this.#looking ??= setInterval(() => this.#look(), lookMilliseconds).unref();
    if (!this.#hasRoom && this.#requests >= minBusy) this.#give();
  }

  #look(): void {
    const isBusy = this.#requests >= minBusy;
    this.#requests = 0;
    if (isBusy) return;
    clearInterval(this.#looking);
    this.#looking = undefined;
    if (!this.#hasRoom) return;
    this.#hasRoom = false;
    for (const flag of savers) this.#setFlag(`--${flag}`);
  }

  #give(): void {
    this.#hasRoom = true;
    for (const flag of savers) this.#setFlag(`--no-${flag}`);
  }
}

type SetFlag = (flag: string) => void;

const lookMilliseconds = 10_000;

/**
 * Requests per interval that count as busy. A person with the console or a training with its epochs makes fewer.
 */
const minBusy = 150;

/**
 * V8 flags that `npm start` sets. They keep the heap small but take a third of a busy service's time. Without them
 * the young generation grows up to `--max-semi-space-size`; V8 shrinks it again when the service is idle.
 */
const savers = ['memory-saver-mode', 'optimize-for-size'];
