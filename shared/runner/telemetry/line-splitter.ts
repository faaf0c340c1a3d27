import { StringDecoder } from 'node:string_decoder';
import { noMask, type SecretMask } from '../host/secret-mask.ts';

/** Interval at which the current state of a line that rewrites itself (a progress bar) is shown. */
const progressMilliseconds = 5_000;

/** Longest line, in UTF-16 units; a longer one is cut into several. */
const lineUnits = 16 * 1024;

/**
 * Cuts bytes into lines as a terminal shows them: after LF or CR LF; of a line that was rewritten after a lone CR
 * only the last state. Bytes that are not UTF-8 become U+FFFD. Memory is bounded. Secrets are masked
 * before a line is cut, so that none is shown in two halves.
 */
export class LineSplitter {
  readonly #decoder = new StringDecoder('utf8');
  /** The line that is not yet ended; CRs only at its end. */
  #rest = '';
  #lastLineAt = Number.NEGATIVE_INFINITY;
  readonly #mask: SecretMask;

  constructor(mask: SecretMask = noMask) {
    this.#mask = mask;
  }

  /** The lines that end in this chunk, which came at a time in milliseconds of any clock. */
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

  /** The last line, when nothing ends it. */
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
    // Text that may begin a secret waits for the rest of it.
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
    // A pair of surrogates is one character.
    const isPair = (text.codePointAt(start + lineUnits - 1) ?? 0) > 0xffff;
    const end = start + lineUnits - (isPair ? 1 : 0);
    lines.push(text.slice(start, end));
    start = end;
  }
  lines.push(text.slice(start));
}

/** The part of a line that a terminal shows: after its last CR that is followed by text. */
function lastState(text: string): string {
  if (!text.includes('\r')) return text;
  let end = text.length;
  while (text[end - 1] === '\r') end -= 1;
  const start = end === 0 ? 0 : text.lastIndexOf('\r', end - 1) + 1;
  // A copy, because a slice would keep the whole text in memory.
  return Buffer.from(text.slice(start, end)).toString();
}
