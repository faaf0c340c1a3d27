import { credentialsIn, notationsOf } from './credentials.ts';

/** What stands in the place of a secret. */
const shown = '***';

/**
 * Masks secrets in what a job prints and reports. A program that wants to can still write them in a notation of its own:
 * the mask keeps them from being shown by mistake.
 */
export class SecretMask {
  readonly #pattern: RegExp | undefined;
  /** Length of the longest text that is masked, in UTF-16 units. */
  readonly longest: number;

  constructor(secrets: readonly string[]) {
    // The longest first, so that a text goes as a whole that begins as a shorter one does.
    const texts = [...new Set(secrets.flatMap(textsOf))].sort((one, other) => other.length - one.length);
    this.longest = texts[0]?.length ?? 0;
    const escaped = texts.map((text) => text.replaceAll(/[.*+?^${}()|[\]\\/-]/g, '\\$&'));
    this.#pattern = texts.length === 0 ? undefined : new RegExp(escaped.join('|'), 'g');
  }

  /** The text without secrets. */
  apply(text: string): string {
    return this.#pattern === undefined ? text : text.replaceAll(this.#pattern, shown);
  }

  /** The same for the end of a longer text, in whose first line a secret may be cut. */
  applyToEnd(text: string, isCut: boolean): string {
    if (!isCut || this.#pattern === undefined) return this.apply(text);
    const lineEnd = text.indexOf('\n');
    return this.apply(lineEnd === -1 ? text.slice(this.longest) : text.slice(lineEnd + 1));
  }
}

/** Characters of a line of a secret, or of a credential in it, from which it is masked by itself. */
const shortestPart = 4;

/** The texts that tell a secret: the whole, each of its lines, and the credentials in it. */
function textsOf(value: string): string[] {
  const whole = value.trim();
  const lines = whole.split(/[\r\n]+/).map((line) => line.trim());
  const parts = [...lines, ...credentialsIn(whole)].filter((text) => text.length >= shortestPart);
  return [whole, ...parts].flatMap(notationsOf).filter((text) => text.length >= shortestPart);
}

/** For jobs without secrets. */
export const noMask = new SecretMask([]);
