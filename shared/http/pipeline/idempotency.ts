import { createHash, randomUUID } from 'node:crypto';
import * as z from 'zod';
import { errorName } from '../../core/error-text.ts';
import { ServiceError } from '../../core/service-error.ts';
import {
  type Claim,
  claimKey,
  keepAnswer,
  noteMade,
  putClaim,
  releaseClaim,
  takeOver,
} from '../../data/accounts/idempotency.ts';
import type { Key, TableName, TableWriter, Write } from '../../data/table/table.ts';
import { jsonSchema } from '../definition/endpoint-output.ts';
import type { AnyEndpoint, Exchange } from '../definition/middleware.ts';
import { Reply } from '../definition/reply.ts';
import { headerOf } from './proxy-event.ts';

/** The work of a request, without its key. */
interface Behaviour {
  act(idempotencyWrites: (id: string) => Write[]): Promise<unknown>;
  /** Respond with the record that an earlier attempt of the same request created. */
  replayCreated(id: string): Promise<unknown>;
}

/** One attempt of a request that carries a key. */
interface KeyedRequest {
  exchange: Exchange;
  behaviour: Behaviour;
  table: TableWriter<TableName>;
  key: Key;
  fingerprint: string;
  holder: string;
}

/**
 * Do the work of a request once per `Idempotency-Key`, however often the request is sent. A failed attempt frees
 * the key unless it has created its record, so the request can be corrected or repeated.
 */
export async function answerOnce(
  exchange: Exchange,
  services: Readonly<Record<string, unknown>>,
  behaviour: Behaviour,
): Promise<unknown> {
  const { endpoint, event, input, caller } = exchange;
  const { idempotent } = endpoint;
  const given = headerOf(event, 'idempotency-key');
  if (idempotent === undefined || given === undefined) return behaviour.act(nothing);
  const table = services[idempotent.table];
  if (!isWriter(table)) throw new Error(`${endpoint.name} cannot write ${idempotent.table}`);
  const attempt: KeyedRequest = {
    exchange,
    behaviour,
    table,
    key: claimKey(scopeOf(exchange), given),
    // A token gets no answer that was given to one with another scope.
    fingerprint: requestFingerprint(endpoint, caller?.scope ? { ...input, scope: caller.scope } : input),
    holder: randomUUID(),
  };
  return idempotent.kind === 'signs' ? signAgain(attempt) : createOnce(attempt, endpoint);
}

const nothing = (): Write[] => [];

export function isWriter(service: unknown): service is TableWriter<TableName> {
  return typeof service === 'object' && service !== null && 'writable' in service;
}

/** Callers who have not signed in are distinguished by their address. Only a digest of the address is stored. */
function scopeOf({ caller, event }: Exchange): string {
  if (caller !== undefined) return caller.user_id;
  const { sourceIp } = event.requestContext.identity;
  return `ADDRESS-${createHash('sha256').update(sourceIp).digest('hex')}`;
}

/**
 * Return the SHA-256 of an operation and its parsed input, in hexadecimal. It is equal for equal requests, however
 * they were encoded. Fields whose names contain `password` are left out.
 */
export const requestFingerprint = (operation: { method: string; path: string }, input: unknown): string =>
  sha256(JSON.stringify([operation.method, operation.path, canonical(input)]));

const sha256 = (data: string | Uint8Array): string => createHash('sha256').update(data).digest('hex');

/** Return the value in a form whose JSON does not depend on the order of fields and contains no password. */
function canonical(value: unknown): unknown {
  if (value instanceof Uint8Array) return { bytes: sha256(value) };
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value)
    .filter(([name, member]) => member !== undefined && !isSecret(name))
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, member]) => [name, canonical(member)]);
  return { members };
}

const isSecret = (name: string): boolean => /password/i.test(name);

/** Act again each time. The response is not kept. Only a key that was used for another request is refused. */
async function signAgain(attempt: KeyedRequest): Promise<unknown> {
  const { table, key, fingerprint, holder, behaviour } = attempt;
  const earlier = await putClaim(table, key, { fingerprint, holder, lease_until: 0 }, new Date());
  if (earlier === undefined) return guarded(attempt, () => behaviour.act(nothing));
  if (earlier.fingerprint !== fingerprint) throw mismatch();
  return replayed(await behaviour.act(nothing));
}

/** Do the attempt's work, and free the key if it fails. */
async function guarded<T>(
  { exchange, table, key, holder }: KeyedRequest,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const isOurs = await releaseClaim(table, key, holder).catch((reason: unknown) => {
      // The lease expires by itself. The caller gets the first error.
      exchange.log.warn('claim-not-released', { error: errorName(reason) });
      return true;
    });
    // Without the claim nothing was created, whatever the error.
    throw isOurs ? error : inProgress(0);
  }
}

function inProgress(milliseconds: number): ServiceError {
  const retryAfterSeconds = Math.max(1, Math.ceil(milliseconds / 1000));
  const detail =
    'A request with this Idempotency-Key is still in progress. Repeat it later to get its response.';
  return new ServiceError('conflict', detail, { retryAfterSeconds });
}

const mismatch = (): ServiceError =>
  new ServiceError(
    'idempotency-mismatch',
    'This Idempotency-Key was used for another request in the last 24 hours. Use a new key for each request.',
  );

const replayed = (answer: unknown): Reply<unknown> =>
  (answer instanceof Reply ? answer : Reply.json(answer)).with({ 'Idempotency-Replayed': 'true' });

async function createOnce(attempt: KeyedRequest, endpoint: AnyEndpoint): Promise<unknown> {
  const earlier = await claim(attempt);
  if (earlier?.answer !== undefined) return replay(attempt, endpoint, earlier.answer, earlier.made);
  return guarded(attempt, () => perform(attempt, endpoint, earlier?.made));
}

/** Longer than a request lasts (29 s). The holder of an older claim is dead. */
const leaseMilliseconds = 35_000;

/** Maximum difference between the clocks of two hosts, in milliseconds. */
const clockSkew = 60_000;

/** Claim the key for this attempt, and return the result of earlier attempts. Throw 422 and 409 problems. */
async function claim({ table, key, fingerprint, holder }: KeyedRequest): Promise<Claim | undefined> {
  for (;;) {
    const now = new Date();
    const lease_until = now.getTime() + leaseMilliseconds;
    const earlier = await putClaim(table, key, { fingerprint, holder, lease_until }, now);
    if (earlier === undefined) return undefined;
    if (earlier.fingerprint !== fingerprint) throw mismatch();
    if (earlier.answer !== undefined) return earlier;
    const left = earlier.lease_until - now.getTime();
    // A lease longer than the maximum was written before the clock was set back. Its holder counts as dead.
    if (left > 0 && left <= leaseMilliseconds + clockSkew) throw inProgress(left);
    if (await takeOver(table, key, earlier, { holder, lease_until })) return earlier;
  }
}

const Kept = z.object({
  value: z.unknown(),
  headers: z.record(z.string(), z.string()),
  version: z.number().optional(),
});

/** Return the first response, or the record itself if another version of the service stored the response. */
async function replay(
  { behaviour }: KeyedRequest,
  endpoint: AnyEndpoint,
  kept: string,
  made: string | undefined,
): Promise<unknown> {
  const { value, headers, version } = Kept.parse(JSON.parse(kept));
  if (made !== undefined && !jsonSchema(endpoint).safeParse(value).success) {
    return replayed(await behaviour.replayCreated(made));
  }
  return replayed(Reply.json(value, { headers, ...(version !== undefined && { version }) }));
}

async function perform(
  attempt: KeyedRequest,
  endpoint: AnyEndpoint,
  madeBefore: string | undefined,
): Promise<unknown> {
  const { key, holder, behaviour } = attempt;
  if (madeBefore !== undefined) {
    const answer = await behaviour.replayCreated(madeBefore);
    await keep(attempt, endpoint, answer);
    return replayed(answer);
  }
  let noted = false;
  const answer = await behaviour.act((id) => {
    noted = true;
    return [noteMade(key, holder, id)];
  });
  if (!noted) throw new Error(`${endpoint.name} has not noted its record for an Idempotency-Key`);
  await keep(attempt, endpoint, answer);
  return answer;
}

/** Keep only the published fields of the response, because a record may contain secret ones. */
async function keep(
  { exchange, table, key, holder }: KeyedRequest,
  endpoint: AnyEndpoint,
  answer: unknown,
): Promise<void> {
  const { body, headers, version } = answer instanceof Reply ? answer : Reply.json(answer);
  if (body.kind !== 'json')
    throw new Error(`${endpoint.name} accepts an Idempotency-Key, so it must return JSON`);
  const value = jsonSchema(endpoint).parse(body.value);
  try {
    await keepAnswer(table, key, holder, JSON.stringify({ value, headers, version }));
  } catch (error) {
    // The created record is noted, so a repetition finds it without this answer.
    exchange.log.warn('answer-not-kept', { error: errorName(error) });
  }
}
