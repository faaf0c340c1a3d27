/** Shows how far a stage is: on a terminal one line that changes, elsewhere a line for each stage. */
export class ProgressLine {
  readonly #to: NodeJS.WriteStream;
  #shown = '';

  constructor(to: NodeJS.WriteStream) {
    this.#to = to;
  }

  show(stage: string, fraction: number): void {
    const text = this.#to.isTTY ? `${stage} ${Math.round(fraction * 100)} %` : `${stage} …`;
    if (text === this.#shown) return;
    this.#shown = text;
    this.#to.write(this.#to.isTTY ? `\r\x1b[2K${text}` : `${text}\n`);
  }

  /** Writes a line that stays. */
  say(line: string): void {
    this.clear();
    this.#to.write(`${line}\n`);
  }

  clear(): void {
    if (this.#to.isTTY && this.#shown !== '') this.#to.write('\r\x1b[2K');
    this.#shown = '';
  }
}
