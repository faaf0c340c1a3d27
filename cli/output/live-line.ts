import type { Printer } from './printer.ts';

/** Scrolling lines above one status line that changes in place, on terminals only. */
export class LiveLine {
  readonly #printer: Printer;
  #status = '';

  constructor(printer: Printer) {
    this.#printer = printer;
  }

  /** Print above the status line. */
  above(print: () => void): void {
    this.#erase();
    print();
    this.#draw();
  }

  /** Set the status line. Show nothing if the output cannot change in place. */
  set(status: string): void {
    if (!this.#printer.isLive || status === this.#status) return;
    this.#erase();
    this.#status = status;
    this.#draw();
  }

  /** Remove the status line. */
  end(): void {
    this.#erase();
    this.#status = '';
  }

  #erase(): void {
    if (this.#printer.isLive && this.#status !== '') this.#printer.raw('\r\u001b[2K');
  }

  #draw(): void {
    if (!this.#printer.isLive || this.#status === '') return;
    // Leave one column free, because some terminals would wrap.
    const columns = Math.max(10, this.#printer.columns - 1);
    this.#printer.raw(this.#printer.style('dim', this.#status.slice(0, columns)));
  }
}
