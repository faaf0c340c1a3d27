import { createHash, randomBytes } from 'node:crypto';

/**
 * Who asks, as far as the gateway knows: the account that earlier requests with the same credentials came from, else the
 * address. Unknown credentials count for their address, so that made-up ones get no share of their own.
 */
export class Askers {
  readonly #salt = randomBytes(32);
  readonly #accounts = new Map<string, string>();
  /** A request is named twice: before and after its function. */
  readonly #names = new WeakMap<Headers, string | undefined>();

  of(headers: Headers, address: string): string {
    const name = this.#nameOf(headers);
    return (name === undefined ? undefined : this.#accounts.get(name)) ?? address;
  }

  /** Note the account of a request; undefined if it was refused or had none. */
  note(headers: Headers, user_id: string | undefined): void {
    const name = this.#nameOf(headers);
    if (name === undefined) return;
    this.#accounts.delete(name);
    if (user_id === undefined) return;
    this.#accounts.set(name, user_id);
    const [oldest] = this.#accounts.keys();
    if (this.#accounts.size > maxAccounts && oldest !== undefined) this.#accounts.delete(oldest);
  }

  #nameOf(headers: Headers): string | undefined {
    if (!this.#names.has(headers)) this.#names.set(headers, this.#digestOf(headers));
    return this.#names.get(headers);
  }

  #digestOf(headers: Headers): string | undefined {
    let [authorization, cookie] = ['', ''];
    for (const [name, value] of headers) {
      const lower = name.toLowerCase();
      if (lower === 'authorization') authorization += value;
      // A session of a browser has two halves: that header and its cookie.
      else if (lower === 'cookie') cookie += value;
    }
    if (authorization === '') return undefined;
    return createHash('sha256').update(this.#salt).update(`${authorization}\0${cookie}`).digest('base64');
  }
}

type Headers = readonly (readonly [name: string, value: string])[];

const maxAccounts = 10_000;
