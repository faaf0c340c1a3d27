import { createHash, randomBytes } from 'node:crypto';
import type { TableReader, TableWriter } from '../../data/table/table.ts';
import type { Caller } from '../definition/endpoint-context.ts';
import type { Exchange } from '../definition/exchange.ts';
import { headerOf, type Result } from './proxy-event.ts';
import { isSession } from './session-cookie.ts';

type Services = Readonly<Record<string, unknown>>;

interface Answering {
  /** Identify the caller. Throw if the caller may not call this endpoint. */
  identify(exchange: Exchange): Promise<void>;
  /** Return the response to a request with a known caller. */
  answer(exchange: Exchange, services: Services): Promise<Result>;
}

/**
 * Respond to a request that most likely comes from `expected`. Read its records while the caller is identified.
 * Writes and the response wait until then. If the caller is another one, start the request again.
 */
export async function answerAhead(
  exchange: Exchange,
  services: Services,
  expected: Caller,
  { identify, answer }: Answering,
): Promise<Result> {
  const confirmation = Promise.withResolvers<void>();
  // Either may fail while nothing awaits it.
  confirmation.promise.catch(() => {});
  const identified = identify(exchange);
  const ahead = answer(
    { ...exchange, caller: expected, confirmed: confirmation.promise },
    heldBack(services, confirmation.promise),
  );
  ahead.catch(() => {});
  try {
    await identified;
  } catch (error) {
    confirmation.reject(error);
    throw error;
  }
  if (isSameCaller(exchange.caller, expected)) {
    confirmation.resolve();
    return ahead;
  }
  confirmation.reject(new Error('the request comes from another caller'));
  return answer(exchange, services);
}

/**
 * Return services for a request whose caller is not confirmed yet. Tables are read at once. Every other call waits
 * until `confirmed`, and does nothing if `confirmed` is rejected.
 */
const heldBack = (
  services: Readonly<Record<string, unknown>>,
  confirmed: Promise<void>,
): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(services).map(([name, service]) => {
      if (typeof service !== 'object' || service === null) return [name, service];
      if (!isTable(service)) return [name, held(service, confirmed)];
      if (!('writable' in service)) return [name, service];
      const write: typeof service.write = async (...writes) => {
        await confirmed;
        return service.write(...writes);
      };
      return [name, { ...service, write }];
    }),
  );

type Table = TableReader<'records' | 'accounts'> | TableWriter<'records' | 'accounts'>;

const isTable = (service: object): service is Table => 'batchGet' in service;

/** A service whose calls wait until `confirmed`. All its calls are asynchronous. */
const held = (service: object, confirmed: Promise<void>): object =>
  new Proxy(service, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      return async (...given: unknown[]) => {
        await confirmed;
        return Reflect.apply(value, target, given);
      };
    },
  });

/** Return whether two callers are the same user with the same rights and the same token. */
const isSameCaller = (one: Caller | undefined, other: Caller): boolean =>
  one !== undefined &&
  one.user_id === other.user_id &&
  one.username === other.username &&
  one.account_type === other.account_type &&
  one.credentials_version === other.credentials_version &&
  one.token_hash === other.token_hash;

const maxKept = 1000;

/**
 * The callers of earlier requests, by their credentials. With this guess, a request reads its records while its
 * caller is identified. No write and no response relies on the guess alone. Refused credentials are forgotten and
 * cause no such reads.
 */
export class ExpectedCallers {
  readonly #salt = randomBytes(32);
  readonly #callers = new Map<string, Caller>();

  #nameOf({ event }: Pick<Exchange, 'event'>): string | undefined {
    const authorization = headerOf(event, 'authorization');
    if (authorization === undefined) return undefined;
    const hash = createHash('sha256').update(this.#salt).update(authorization);
    // A session has two halves: this header and the cookie.
    if (isSession(authorization)) hash.update('\0').update(headerOf(event, 'cookie') ?? '');
    return hash.digest('base64');
  }

  of(exchange: Pick<Exchange, 'event' | 'endpoint'>): Caller | undefined {
    const { allow, permit } = exchange.endpoint;
    // Without its own rule, a public endpoint identifies nobody.
    if (allow === 'anyone' && permit === undefined) return undefined;
    const name = this.#nameOf(exchange);
    return name === undefined ? undefined : this.#callers.get(name);
  }

  /** Note the caller; undefined if the caller was refused. */
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
