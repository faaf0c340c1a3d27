import { createHash, randomBytes } from 'node:crypto';
import type { Caller } from '../definition/endpoint-context.ts';
import type { Exchange } from '../definition/exchange.ts';
import { headerOf } from './proxy-event.ts';
import { isSession } from './session-cookie.ts';

const maxKept = 1000;

/** Whether two callers are the same user with the same rights, by the same token. */
export const isSameCaller = (one: Caller | undefined, other: Caller): boolean =>
  one !== undefined &&
  one.user_id === other.user_id &&
  one.username === other.username &&
  one.account_type === other.account_type &&
  one.credentials_version === other.credentials_version &&
  one.token_hash === other.token_hash;

/**
 * Who sent the requests with these credentials before: a guess, by which a request reads what it needs while it is
 * found out who sends it. Nothing is answered and nothing is written by it. Credentials that were never good, or were
 * refused since, have none, so that they cause no reads but those that tell it.
 */
export class ExpectedCallers {
  readonly #salt = randomBytes(32);
  readonly #callers = new Map<string, Caller>();

  #nameOf({ event }: Pick<Exchange, 'event'>): string | undefined {
    const authorization = headerOf(event, 'authorization');
    if (authorization === undefined) return undefined;
    const hash = createHash('sha256').update(this.#salt).update(authorization);
    // Of a session the cookie is the other half.
    if (isSession(authorization)) hash.update('\0').update(headerOf(event, 'cookie') ?? '');
    return hash.digest('base64');
  }

  of(exchange: Pick<Exchange, 'event' | 'endpoint'>): Caller | undefined {
    if (exchange.endpoint.allow === 'anyone') return undefined;
    const name = this.#nameOf(exchange);
    return name === undefined ? undefined : this.#callers.get(name);
  }

  /** Note who it was; nobody where the caller was refused. */
  note(exchange: Pick<Exchange, 'event'>, caller: Caller | undefined): void {
    const name = this.#nameOf(exchange);
    if (name === undefined) return;
    this.#callers.delete(name);
    if (caller === undefined) return;
    this.#callers.set(name, caller);
    const [oldest] = this.#callers.keys();
    if (this.#callers.size > maxKept && oldest !== undefined) this.#callers.delete(oldest);
  }
}
