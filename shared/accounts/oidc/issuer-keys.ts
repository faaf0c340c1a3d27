import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';
import * as z from 'zod';
import { errorText } from '../../core/error-text.ts';
import { findIssuerKeys, keepKeysSeconds, putIssuerKeys } from '../../data/accounts/issuer.ts';
import type { TableWriter } from '../../data/table/table.ts';
import { guardedFetch } from '../../outgoing/guarded-fetch.ts';
import { discover } from './discovery.ts';

/** An issuer does not answer, or not as one, and its keys are not known. The message is for the log. */
export class IssuerAwayError extends Error {
  override readonly name = 'IssuerAwayError';
}

interface IssuerSource {
  accounts: TableWriter<'accounts'>;
  /** Issuers of this machine or network as `host:port`. */
  admitted: readonly string[];
}

/** Keys of an issuer, as far as this process knows them. */
export interface KnownIssuer {
  /**
   * Find the key of a token's header. Fetch the keys again after ten minutes, and for an unknown key, but twice a minute
   * at most, whatever strangers present and whether the issuer answers. While it is away, keys count that any process
   * fetched within a day.
   * @throws IssuerAwayError
   */
  find: JWTVerifyGetKey;
  /** Store the keys, if they are newer than those that are stored. */
  keep(): Promise<void>;
}

const knownIssuers = new WeakMap<object, Map<string, KnownIssuer>>();

/** Issuers that a process remembers. A developer can name any number, one after the other. */
const maxKnown = 100;

/** Return the keys of an issuer. Nothing is fetched before a token asks for one. */
export function knownIssuer(issuer: string, source: IssuerSource): KnownIssuer {
  const known = knownIssuers.get(source.accounts) ?? new Map<string, KnownIssuer>();
  knownIssuers.set(source.accounts, known);
  const present = known.get(issuer) ?? keysOf(issuer, source);
  const [oldest] = known.keys();
  if (known.size >= maxKnown && !known.has(issuer) && oldest !== undefined) known.delete(oldest);
  known.set(issuer, present);
  return present;
}

interface Keys {
  jwks_uri: string;
  jwks: JSONWebKeySet;
  /** Epoch milliseconds. */
  fetched_at: number;
  find: JWTVerifyGetKey;
}

const freshMilliseconds = 10 * 60 * 1000;
const keptMilliseconds = keepKeysSeconds * 1000;
/** Between two requests to an issuer. */
const restMilliseconds = 30 * 1000;

function keysOf(issuer: string, { accounts, admitted }: IssuerSource): KnownIssuer {
  const fetch = guardedFetch({ admitted, variable: 'ISSUER_HOSTS' });
  let keys: Keys | undefined;
  let isRead = false;
  let stored_at = 0;
  let asked_at = 0;
  /** Why the last request failed. */
  let failure: unknown;
  let pending: Promise<void> | undefined;

  const age = () => Date.now() - (keys?.fetched_at ?? Number.NEGATIVE_INFINITY);
  const away = () => new IssuerAwayError(`its keys cannot be fetched: ${errorText(failure).slice(0, 500)}`);

  async function readStored(): Promise<void> {
    const stored = await findIssuerKeys(accounts, issuer);
    if (stored !== undefined && Date.now() - stored.fetched_at < keptMilliseconds) {
      const jwks = JSON.parse(stored.jwks) as JSONWebKeySet;
      keys = { ...stored, jwks, find: createLocalJWKSet(jwks) };
      stored_at = stored.fetched_at;
    }
    isRead = true;
  }

  async function ask(): Promise<void> {
    try {
      // After a failure the issuer may have moved its keys.
      const known = failure === undefined && age() < keptMilliseconds ? keys?.jwks_uri : undefined;
      const jwks_uri = known ?? (await discover(issuer, fetch)).jwks_uri;
      const jwks = await fetchKeys(jwks_uri, fetch);
      keys = { jwks_uri, jwks, fetched_at: Date.now(), find: createLocalJWKSet(jwks) };
      failure = undefined;
    } catch (error) {
      failure = error;
    }
  }

  /** Ask the issuer, unless it was asked a moment ago. Requests at the same time share one. */
  async function refresh(): Promise<void> {
    if (pending === undefined && Date.now() - asked_at < restMilliseconds) return;
    asked_at = Date.now();
    pending ??= ask().finally(() => {
      pending = undefined;
    });
    await pending;
  }

  return {
    async find(header, token) {
      if (!isRead) await readStored();
      if (age() > freshMilliseconds) await refresh();
      if (keys === undefined || age() > keptMilliseconds) throw away();
      try {
        return await keys.find(header, token);
      } catch (error) {
        if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
        await refresh();
        // The issuer may have another key by now.
        if (failure !== undefined) throw away();
        return await keys.find(header, token);
      }
    },
    async keep() {
      if (keys === undefined || keys.fetched_at === stored_at) return;
      const { jwks_uri, jwks, fetched_at } = keys;
      stored_at = fetched_at;
      await putIssuerKeys(accounts, { issuer, jwks_uri, jwks: JSON.stringify(jwks), fetched_at });
    },
  };
}

type Fetch = ReturnType<typeof guardedFetch>;

const member = z.string().optional();

/** The members of public keys. Certificates and whatever else an issuer adds are left out. */
const KeySet = z.object({
  keys: z.array(
    z.object({
      ...{ kty: z.string(), kid: member, alg: member, use: member, key_ops: z.array(z.string()).optional() },
      ...{ crv: member, x: member, y: member, n: member, e: member },
    }),
  ),
});

/** Characters of a key set as JSON. Those of GitHub and GitLab have a few thousand; an item has 400 kB. */
const maxKeySet = 100_000;

/** Fetch a key set. @throws Error if it is none, or too large to be stored */
async function fetchKeys(jwks_uri: string, fetch: Fetch): Promise<JSONWebKeySet> {
  const response = await fetch(jwks_uri, {
    headers: { Accept: 'application/json, application/jwk-set+json' },
  });
  if (response.status !== 200) throw new Error(`its keys answered ${response.status}`);
  const jwks = KeySet.parse(await response.json());
  if (JSON.stringify(jwks).length > maxKeySet)
    throw new Error(`its keys have more than ${maxKeySet} characters`);
  return jwks as JSONWebKeySet;
}
