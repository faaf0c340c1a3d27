import type { Printer } from './printer.ts';

/** Scrolling lines with one status line below them that changes in place, on terminals only. */
export class LiveLine {
  readonly #printer: Printer;
  #status = '';

  constructor(printer: Printer) {
    this.#printer = printer;
  }

  /** Prints above the changing line. */
  above(print: () => void): void {
    this.#erase();
    print();
    this.#draw();
  }

  /** Sets the changing line; nothing is shown where it could not change. */
  set(status: string): void {
    if (!this.#printer.isLive || status === this.#status) return;
    this.#erase();
    this.#status = status;
    this.#draw();
  }

  /** Removes the changing line. */
  end(): void {
    this.#erase();
    this.#status = '';
  }

  #erase(): void {
    if (this.#printer.isLive && this.#status !== '') this.#printer.raw('\r\u001b[2K');
  }

  #draw(): void {
    if (!this.#printer.isLive || this.#status === '') return;
    // One column less than there are, or some terminals would begin a new line.
    const columns = Math.max(10, this.#printer.columns - 1);
    this.#printer.raw(this.#printer.style('dim', this.#status.slice(0, columns)));
  }
}
