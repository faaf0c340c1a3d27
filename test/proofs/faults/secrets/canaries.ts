import { randomBytes } from 'node:crypto';

/** Texts that stand for secrets, each with what it is. Letters and digits alone look the same in every notation. */
export class Canaries {
  readonly #found = new Map<string, string>();

  /** A new one. */
  make(what: string): string {
    return this.add(what, `Canary${randomBytes(16).toString('hex')}`);
  }

  /** Takes a secret that the service made itself. */
  add(what: string, secret: string): string {
    this.#found.set(secret, what);
    return secret;
  }

  get size(): number {
    return this.#found.size;
  }

  /** What of them occurs in `bytes`: as it is, in hexadecimal, or within anything in Base64. `except` may be there. */
  within(bytes: Buffer, except: readonly string[] = []): string[] {
    return [...this.#found].flatMap(([secret, what]) =>
      !except.includes(secret) && notations(secret).some((text) => bytes.includes(text)) ? [what] : [],
    );
  }
}

/** Of Base64, what is the same whatever stands around it, at each of the three ways to fall on its groups. */
function notations(secret: string): string[] {
  const inBase64 = [0, 1, 2].flatMap((shift) => {
    const text = Buffer.from(`${'x'.repeat(shift)}${secret}`).toString('base64');
    const sure = text.slice(shift === 0 ? 0 : 4, text.length - 4);
    return [sure, sure.replaceAll('+', '-').replaceAll('/', '_')];
  });
  return [secret, Buffer.from(secret).toString('hex'), ...inBase64];
}
