import { credentialsIn, notationsOf } from './credentials.ts';

/** The replacement of a secret. */
const shown = '***';

/**
 * Masks secrets in a job's output and reports. It prevents only accidents: a program can still print a secret in
 * its own notation.
 */
export class SecretMask {
  readonly #pattern: RegExp | undefined;
  /** Length of the longest text that is masked, in UTF-16 units. */
  readonly longest: number;

  constructor(secrets: readonly string[]) {
    // Sort by descending length, so a shorter secret does not split a longer one.
    const texts = [...new Set(secrets.flatMap(textsOf))].sort((a, b) => b.length - a.length);
    this.longest = texts[0]?.length ?? 0;
    const escaped = texts.map((text) => text.replaceAll(/[.*+?^${}()|[\]\\/-]/g, '\\$&'));
    this.#pattern = texts.length === 0 ? undefined : new RegExp(escaped.join('|'), 'g');
  }

  /** Mask the secrets in a text. */
  apply(text: string): string {
    return this.#pattern === undefined ? text : text.replaceAll(this.#pattern, shown);
  }

  /**
   * Mask the secrets in the end of a longer text. If it is cut, drop its first line, because it may contain part
   * of a secret.
   */
  applyToEnd(text: string, isCut: boolean): string {
    if (!isCut || this.#pattern === undefined) return this.apply(text);
    const lineEnd = text.indexOf('\n');
    return this.apply(lineEnd === -1 ? text.slice(this.longest) : text.slice(lineEnd + 1));
  }
}

/** Minimum length for masking a single line of a secret, or a credential in it. */
const shortestPart = 4;

/** The texts that reveal a secret: the whole, each of its lines, and the credentials in it. */
function textsOf(value: string): string[] {
  const whole = value.trim();
  const lines = whole.split(/[\r\n]+/).map((line) => line.trim());
  const parts = [...lines, ...credentialsIn(whole)].filter((text) => text.length >= shortestPart);
  return [whole, ...parts].flatMap(notationsOf).filter((text) => text.length >= shortestPart);
}

/** For jobs without secrets. */
export const noMask = new SecretMask([]);
