import { printableText } from '../../core/text/printable-text.ts';
import { maskCredentials } from '../environment/operator-environment.ts';
import { noMask, type SecretMask } from '../host/secret-mask.ts';

/** Bytes at the end of each stream in which to find the end of a traceback. */
const tailBytes = 16_384;

const longest = 300;

/** Keeps the end of a command's output to extract the error that ended it. */
export class CrashLine {
  readonly #tails = { stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) };
  readonly #mask: SecretMask;
  readonly #endsWithError: boolean;

  /** @param endsWithError whether the program's last line says what is wrong, as that of an export does */
  constructor(mask: SecretMask = noMask, endsWithError = false) {
    this.#mask = mask;
    this.#endsWithError = endsWithError;
  }

  take(stream: 'stdout' | 'stderr', chunk: Buffer): void {
    this.#tails[stream] = Buffer.concat([this.#tails[stream], chunk.subarray(-tailBytes)]).subarray(
      -tailBytes,
    );
  }

  /**
   * Return the error as one line of at most 300 characters, without credentials and secrets; undefined if the
   * command printed no error.
   */
  read(): string | undefined {
    const { stdout, stderr } = this.#tails;
    const textOf = (tail: Buffer) => this.#mask.applyToEnd(tail.toString('utf8'), tail.length === tailBytes);
    const last = this.#endsWithError ? lastLineIn(textOf(stderr)) : undefined;
    const line = last ?? crashLineIn(textOf(stderr)) ?? crashLineIn(textOf(stdout));
    if (line === undefined) return undefined;
    const plain = printableText(maskCredentials(line)).trim();
    return plain.length > longest ? `${plain.slice(0, longest - 1).toWellFormed()}…` : plain;
  }
}

const lastLineIn = (text: string): string | undefined =>
  text.split(/\r?\n/).findLast((line) => line.trim() !== '');

/** `ValueError: …`, `torch.OutOfMemoryError: …`, `TypeError [CODE]: …`, `Uncaught Error: …`. */
const namedError = /^(?:Uncaught )?[A-Za-z_][\w.]*(?:Error|Exception|Interrupt)(?: \[\w+\])?(?::|$)/;

/** The error of a program that executes a notebook. That of the cell is the last line of its message. */
const notebookError = /^(?:papermill|nbclient)\.exceptions\.\w+:/;

/**
 * Return the message of a traceback: the line after Python's last frame, or before the first frame in other
 * languages.
 */
function crashLineIn(text: string): string | undefined {
  const lines = text.split(/\r?\n/).map((line) => line.trimEnd());
  const traceback = lines.findLastIndex((line) => line.startsWith('Traceback (most recent call last)'));
  const ofPython = lines.slice(traceback + 1).find((line) => line !== '' && !/^\s/.test(line));
  if (traceback >= 0 && ofPython !== undefined && !notebookError.test(ofPython)) return ofPython;
  return lines.findLast((line) => namedError.test(line));
}
