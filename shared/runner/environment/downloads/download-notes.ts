import { bytesText } from '../../../core/text/bytes-text.ts';

const everyMilliseconds = 20_000;

/** Tells the reader of a log how far the downloads of an installer are, because gigabytes take minutes. */
export class DownloadNotes {
  readonly #relay: { readonly counts: { readonly receivedBytes: number } };
  readonly #log: (line: string) => void;
  readonly #timer: NodeJS.Timeout;
  #noted = 0;
  #isInstalling = false;

  constructor(relay: { readonly counts: { readonly receivedBytes: number } }, log: (line: string) => void) {
    this.#relay = relay;
    this.#log = log;
    this.#timer = setInterval(() => this.note(), everyMilliseconds).unref();
  }

  /** Log what has been received if it is more than before, and once that nothing more has come. */
  note(): void {
    const { receivedBytes } = this.#relay.counts;
    const isNew = receivedBytes > this.#noted;
    if (!isNew && (this.#isInstalling || receivedBytes === 0)) return;
    this.#isInstalling = !isNew;
    this.#noted = receivedBytes;
    const received = `${bytesText(receivedBytes)} of packages received`;
    this.#log(`environment: ${received}${isNew ? ' so far' : '; installing them'}`);
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
