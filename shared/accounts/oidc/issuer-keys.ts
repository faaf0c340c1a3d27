import {
  createLocalJWKSet,
  createRemoteJWKSet,
  customFetch,
  type ExportedJWKSCache,
  errors,
  type JSONWebKeySet,
  type JWKSCacheInput,
  type JWTVerifyGetKey,
  jwksCache,
} from 'jose';
import * as z from 'zod';
import { errorText } from '../../core/error-text.ts';
import { findIssuerKeys, keepKeysSeconds, putIssuerKeys } from '../../data/accounts/issuer.ts';
import type { TableWriter } from '../../data/table/table.ts';
import { guardedFetch } from '../../outgoing/guarded-fetch.ts';

/** An issuer does not answer, or not as one, and its keys are not known. The message is for the log. */
export class IssuerAwayError extends Error {
  override readonly name = 'IssuerAwayError';
}

interface IssuerSource {
  accounts: TableWriter<'accounts'>;
  /** Issuers of this machine or network as `host:port`. */
  admitted: readonly string[];
}

/** Keys of an issuer that this process has asked for. */
export interface KnownIssuer {
  /**
   * Find the key of a token's header. Fetch the keys again after ten minutes, and for an unknown key, but twice a minute
   * at most. While the issuer is away, keys count that any process fetched within a day.
   * @throws IssuerAwayError
   */
  find: JWTVerifyGetKey;
  /** Store the keys, if they are newer than those that are stored. */
  keep(): Promise<void>;
}

const knownIssuers = new WeakMap<object, Map<string, KnownIssuer>>();

/** Return the keys of an issuer. @throws IssuerAwayError */
export async function knownIssuer(issuer: string, source: IssuerSource): Promise<KnownIssuer> {
  const known = knownIssuers.get(source.accounts) ?? new Map<string, KnownIssuer>();
  knownIssuers.set(source.accounts, known);
  const present = known.get(issuer) ?? (await readIssuer(issuer, source, () => known.delete(issuer)));
  known.set(issuer, present);
  return present;
}

/** Find a key among those of the last fetch. @throws IssuerAwayError for none, or none within a day */
async function findKept(
  cache: JWKSCacheInput,
  cause: unknown,
  ...[header, token]: Parameters<JWTVerifyGetKey>
): Promise<Awaited<ReturnType<JWTVerifyGetKey>>> {
  const away = new IssuerAwayError(`its keys cannot be fetched: ${errorText(cause)}`);
  if (!isFilled(cache) || Date.now() - cache.uat > keepKeysSeconds * 1000) throw away;
  try {
    return await createLocalJWKSet(cache.jwks)(header, token);
  } catch (error) {
    // The issuer may have another key by now.
    throw error instanceof errors.JWKSNoMatchingKey ? away : error;
  }
}

const isFilled = (cache: JWKSCacheInput): cache is ExportedJWKSCache => 'uat' in cache;

/** @param forget called when the keys are too old: the issuer may have moved them */
async function readIssuer(
  issuer: string,
  { accounts, admitted }: IssuerSource,
  forget: () => void,
): Promise<KnownIssuer> {
  const fetch = guardedFetch({ admitted, variable: 'ISSUER_HOSTS' });
  const stored = await findIssuerKeys(accounts, issuer);
  const isRecent = stored !== undefined && Date.now() - stored.fetched_at < keepKeysSeconds * 1000;
  const jwks_uri = isRecent ? stored.jwks_uri : await discoverKeys(issuer, fetch);
  const cache: JWKSCacheInput = isRecent
    ? { jwks: JSON.parse(stored.jwks) as JSONWebKeySet, uat: stored.fetched_at }
    : {};
  let kept = isRecent ? stored.fetched_at : 0;
  const remote = createRemoteJWKSet(new URL(jwks_uri), { [customFetch]: fetch, [jwksCache]: cache });
  return {
    async find(header, token) {
      try {
        return await remote(header, token);
      } catch (error) {
        if (error instanceof errors.JWKSNoMatchingKey) throw error;
        return await findKept(cache, error, header, token).catch((reason: unknown) => {
          forget();
          throw reason;
        });
      }
    },
    async keep() {
      if (!isFilled(cache) || cache.uat === kept) return;
      kept = cache.uat;
      const jwks = JSON.stringify(cache.jwks);
      await putIssuerKeys(accounts, { issuer, jwks_uri, jwks, fetched_at: cache.uat });
    },
  };
}

const Discovery = z.object({ issuer: z.string(), jwks_uri: z.url() });

/** Ask an issuer where its keys are. @throws IssuerAwayError if it does not say so, or names another issuer */
async function discoverKeys(issuer: string, fetch: ReturnType<typeof guardedFetch>): Promise<string> {
  try {
    const response = await fetch(`${issuer.replace(/\/+$/, '')}/.well-known/openid-configuration`);
    if (response.status !== 200) throw new Error(`its discovery answered ${response.status}`);
    const discovery = Discovery.parse(await response.json());
    if (discovery.issuer !== issuer) throw new Error(`its discovery names the issuer ${discovery.issuer}`);
    return discovery.jwks_uri;
  } catch (error) {
    throw new IssuerAwayError(errorText(error));
  }
}
