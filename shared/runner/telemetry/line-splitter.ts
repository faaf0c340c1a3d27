import { StringDecoder } from 'node:string_decoder';
import { noMask, type SecretMask } from '../host/secret-mask.ts';

/** Interval for showing the current state of a line that rewrites itself, for example a progress bar. */
const progressMilliseconds = 5_000;

/** Maximum length of a line in UTF-16 units. A longer one is cut into several. */
const lineUnits = 16 * 1024;

/**
 * Splits bytes into lines as a terminal shows them: after LF or CR LF. Keeps only the last state of a line that
 * was rewritten after a lone CR. Replaces bytes that are not UTF-8 by U+FFFD. Memory is bounded. Masks secrets
 * before cutting a line, so no secret appears in two halves.
 */
export class LineSplitter {
  readonly #decoder = new StringDecoder('utf8');
  /** The incomplete line. It contains CRs only at its end. */
  #rest = '';
  #lastLineAt = Number.NEGATIVE_INFINITY;
  readonly #mask: SecretMask;

  constructor(mask: SecretMask = noMask) {
    this.#mask = mask;
  }

  /** Return the lines that end in this chunk. `time` is its arrival in milliseconds of any clock. */
  split(chunk: Buffer, time: number): string[] {
    const lines: string[] = [];
    const ended = this.#decoder.write(chunk).split('\n');
    const rest = ended.pop() ?? '';
    for (const [index, text] of ended.entries()) {
      cut(this.#mask.apply(lastState(index === 0 ? this.#rest + text : text)), lines);
    }
    if (ended.length > 0) {
      this.#rest = '';
      this.#lastLineAt = time;
    }
    this.#keep(rest, time, lines);
    return lines;
  }

  /** Return the last line if it has no line end. */
  end(): string[] {
    const lines: string[] = [];
    const text = lastState(this.#rest + this.#decoder.end());
    this.#rest = '';
    if (text !== '') cut(this.#mask.apply(text), lines);
    return lines;
  }

  #keep(text: string, time: number, lines: string[]): void {
    if (text === '') return;
    const whole = this.#rest + text;
    const isRewritten = this.#rest.endsWith('\r') || text.includes('\r');
    if (isRewritten && time - this.#lastLineAt >= progressMilliseconds) {
      if (this.#lastLineAt !== Number.NEGATIVE_INFINITY) cut(this.#mask.apply(lastState(whole)), lines);
      this.#lastLineAt = time;
    }
    this.#rest = isRewritten ? `${lastState(whole)}${whole.endsWith('\r') ? '\r' : ''}` : whole;
    // Text that may be the start of a secret waits for its rest.
    const { longest } = this.#mask;
    if (this.#rest.length <= lineUnits + 1 + longest) return;
    const pieces: string[] = [];
    const masked = this.#mask.apply(this.#rest);
    cut(masked.slice(0, masked.length - longest), pieces);
    this.#rest = (pieces.pop() ?? '') + masked.slice(masked.length - longest);
    lines.push(...pieces);
  }
}

function cut(text: string, lines: string[]): void {
  let start = 0;
  while (text.length - start > lineUnits) {
    // Do not split a surrogate pair.
    const isPair = (text.codePointAt(start + lineUnits - 1) ?? 0) > 0xffff;
    const end = start + lineUnits - (isPair ? 1 : 0);
    lines.push(text.slice(start, end));
    start = end;
  }
  lines.push(text.slice(start));
}

/** Return the part of a line that a terminal shows: the text after its last CR that text follows. */
function lastState(text: string): string {
  if (!text.includes('\r')) return text;
  let end = text.length;
  while (text[end - 1] === '\r') end -= 1;
  const start = end === 0 ? 0 : text.lastIndexOf('\r', end - 1) + 1;
  // Copy, because a slice would keep the whole text in memory.
  return Buffer.from(text.slice(start, end)).toString();
}
