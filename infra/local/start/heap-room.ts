import { setFlagsFromString } from 'node:v8';

/**
 * Gives the heap room while there is much to do, and keeps it small otherwise. `note` counts a request; room is given
 * at the 150th of ten seconds, and taken back after ten seconds with fewer.
 */
export class HeapRoom {
  readonly #setFlag: SetFlag;
  #requests = 0;
  #looking: NodeJS.Timeout | undefined;
  #hasRoom = false;

  /** @param setFlag sets a flag of the process's V8; another one in tests */
  constructor(setFlag: SetFlag = setFlagsFromString) {
    this.#setFlag = setFlag;
  }

  note(): void {
    this.#requests += 1;
    // It does not keep the process running.
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

/** Requests between two looks that a person with the console or a training with its epochs does not make. */
const minBusy = 150;

/**
 * Flags of V8 with which `npm start` begins: they keep the heap small, and take a third of a busy service's time. Without
 * them the young generation grows as far as `--max-semi-space-size` lets it; V8 shrinks it again when it is quiet.
 */
const savers = ['memory-saver-mode', 'optimize-for-size'];
