/** What stands in the place of a secret. */
const shown = '***';
/** Characters of a line of a secret, or of a password in it, from which it is masked by itself. */
const shortestPart = 4;

/** The passwords of a value that is a URL, as they are written in it and as they are meant. */
function passwordsOf(value: string): string[] {
  const [, written] = /^[a-z][a-z0-9+.-]*:\/\/[^\s/?#:@]*:([^\s/?#]*)@/i.exec(value) ?? [];
  if (written === undefined) return [];
  try {
    return [written, decodeURIComponent(written)];
  } catch {
    return [written];
  }
}

/** A text as programs write it into JSON, URLs and headers. */
function notationsOf(text: string): string[] {
  const base64 = Buffer.from(text).toString('base64');
  return [
    text,
    JSON.stringify(text).slice(1, -1),
    encodeURIComponent(text),
    base64.replace(/=+$/, ''),
    base64.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, ''),
  ];
}

/** The texts that tell a secret: the whole, each of its lines, and the password of a URL. */
function textsOf(value: string): string[] {
  const whole = value.trim();
  const lines = whole.split(/[\r\n]+/).map((line) => line.trim());
  const parts = [...lines, ...passwordsOf(whole)].filter((text) => text.length >= shortestPart);
  return [whole, ...parts].flatMap(notationsOf).filter((text) => text.length >= shortestPart);
}

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

/** For jobs without secrets. */
export const noMask = new SecretMask([]);
