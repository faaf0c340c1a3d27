/** Lines that are quoted, and most characters of one: a run shows them. */
const maxQuoted = 3;
const shownUnits = 120;

const quote = (text: string): string =>
  JSON.stringify(text.length > shownUnits ? `${text.slice(0, shownUnits)}…` : text);

/** Counts the lines of METRICS_FILE that are no metrics, and quotes the first of them. */
export class LeftOutLines {
  #count = 0;
  readonly #first: string[] = [];

  get count(): number {
    return this.#count;
  }

  /** Count a line. Return it as it is quoted: cut, on one line, without control characters. */
  add(fault: string, text: string): string {
    this.#count += 1;
    const quoted = quote(text);
    if (this.#first.length < maxQuoted) this.#first.push(`${quoted}, because ${fault}`);
    return quoted;
  }

  /** What a person reads of them; undefined where there are none. */
  sentence(): string | undefined {
    if (this.#count === 0) return undefined;
    const lines =
      this.#count === 1 ? '1 line of METRICS_FILE was' : `${this.#count} lines of METRICS_FILE were`;
    const first = this.#count > maxQuoted ? `. The first ${maxQuoted}: ` : ': ';
    return `${lines} left out, in whole or in part${first}${this.#first.join('; ')}.`;
  }
}
