import { createHash, randomUUID } from 'node:crypto';
import * as z from 'zod';
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
import { jsonSchema } from '../definition/answer-schema.ts';
import type { AnyEndpoint, Exchange } from '../definition/exchange.ts';
import { Reply } from '../definition/reply.ts';
import { headerOf } from './proxy-event.ts';
import { requestFingerprint } from './request-fingerprint.ts';

/** Longer than any request lives (29 s): whoever holds a claim for longer has died. */
const leaseMilliseconds = 35_000;
/** By which the clocks of two hosts may differ. */
const clockSkew = 60_000;

/** What an endpoint does for a request, apart from the request's key. */
export interface Behaviour {
  act(idempotencyWrites: (id: string) => Write[]): Promise<unknown>;
  /** Answers the record that an earlier attempt of the same request has made. */
  replayCreated(id: string): Promise<unknown>;
}

const nothing = (): Write[] => [];

/** One attempt of a request that carries a key. */
interface KeyedRequest {
  exchange: Exchange;
  behaviour: Behaviour;
  table: TableWriter<TableName>;
  key: Key;
  fingerprint: string;
  holder: string;
}

function isWriter(service: unknown): service is TableWriter<TableName> {
  return typeof service === 'object' && service !== null && 'writable' in service;
}

/** Callers who have not signed in are told apart by their address, of which only a digest is kept. */
function scopeOf({ caller, event }: Exchange): string {
  if (caller !== undefined) return caller.user_id;
  const { sourceIp } = event.requestContext.identity;
  return `ADDRESS-${createHash('sha256').update(sourceIp).digest('hex')}`;
}

const mismatch = (): ServiceError =>
  new ServiceError(
    'idempotency-mismatch',
    'This Idempotency-Key was used for another request in the last 24 hours. Take a new key for each request.',
  );

function inProgress(milliseconds: number): ServiceError {
  const retryAfterSeconds = Math.max(1, Math.ceil(milliseconds / 1000));
  const detail =
    'A request with this Idempotency-Key is still in progress. Repeat it later for its response.';
  return new ServiceError('conflict', detail, { retryAfterSeconds });
}

const replayed = (answer: unknown): Reply<unknown> =>
  (answer instanceof Reply ? answer : Reply.json(answer)).with({ 'Idempotency-Replayed': 'true' });

/**
 * Does what a request asks for, once however often it comes with the same `Idempotency-Key`. An attempt that fails,
 * with whatever status, frees the key unless it has made its record, so that a request can be corrected or repeated.
 */
export async function answerOnce(
  exchange: Exchange,
  services: Readonly<Record<string, unknown>>,
  behaviour: Behaviour,
): Promise<unknown> {
  const { endpoint, event, input } = exchange;
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
    fingerprint: requestFingerprint(endpoint, input),
    holder: randomUUID(),
  };
  return idempotent.kind === 'signs' ? signAnew(attempt) : createOnce(attempt, endpoint);
}

/** Acts again each time: the answer is not kept, and only the key's use for another request is refused. */
async function signAnew(attempt: KeyedRequest): Promise<unknown> {
  const { table, key, fingerprint, holder, behaviour } = attempt;
  const earlier = await putClaim(table, key, { fingerprint, holder, lease_until: 0 }, new Date());
  if (earlier === undefined) return guarded(attempt, () => behaviour.act(nothing));
  if (earlier.fingerprint !== fingerprint) throw mismatch();
  return replayed(await behaviour.act(nothing));
}

async function createOnce(attempt: KeyedRequest, endpoint: AnyEndpoint): Promise<unknown> {
  const earlier = await claim(attempt);
  if (earlier?.answer !== undefined) return replay(attempt, endpoint, earlier.answer, earlier.made);
  return guarded(attempt, () => perform(attempt, endpoint, earlier?.made));
}

/** Claims the key for this attempt; answers what earlier attempts have left. Throws 422 and 409 problems. */
async function claim({ table, key, fingerprint, holder }: KeyedRequest): Promise<Claim | undefined> {
  for (;;) {
    const now = new Date();
    const lease_until = now.getTime() + leaseMilliseconds;
    const earlier = await putClaim(table, key, { fingerprint, holder, lease_until }, now);
    if (earlier === undefined) return undefined;
    if (earlier.fingerprint !== fingerprint) throw mismatch();
    if (earlier.answer !== undefined) return earlier;
    const left = earlier.lease_until - now.getTime();
    // A lease that is longer than any is from before the clock was set back: its holder counts as dead.
    if (left > 0 && left <= leaseMilliseconds + clockSkew) throw inProgress(left);
    if (await takeOver(table, key, earlier, { holder, lease_until })) return earlier;
  }
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
  if (!noted) throw new Error(`${endpoint.name} has not noted what it made for an Idempotency-Key`);
  await keep(attempt, endpoint, answer);
  return answer;
}

/** Does the attempt's work, and frees the key where that fails. */
async function guarded<T>(
  { exchange, table, key, holder }: KeyedRequest,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const isOurs = await releaseClaim(table, key, holder).catch((reason: unknown) => {
      // The lease ends by itself; the error that the caller is to learn of is the first one.
      exchange.log.warn('claim-not-released', { error: reason instanceof Error ? reason.name : '' });
      return true;
    });
    // Without the claim nothing could be made, whatever error that led to.
    throw isOurs ? error : inProgress(0);
  }
}

const Kept = z.object({
  value: z.unknown(),
  headers: z.record(z.string(), z.string()),
  version: z.number().optional(),
});

/** Keeps what the answer shows, no more: a record may hold what nobody is to read. */
async function keep(
  { exchange, table, key, holder }: KeyedRequest,
  endpoint: AnyEndpoint,
  answer: unknown,
): Promise<void> {
  const { body, headers, version } = answer instanceof Reply ? answer : Reply.json(answer);
  if (body.kind !== 'json') throw new Error(`${endpoint.name} takes an Idempotency-Key and must answer JSON`);
  const value = jsonSchema(endpoint).parse(body.value);
  try {
    await keepAnswer(table, key, holder, JSON.stringify({ value, headers, version }));
  } catch (error) {
    // What was made is noted, so a repetition finds it without this answer.
    exchange.log.warn('answer-not-kept', { error: error instanceof Error ? error.name : '' });
  }
}

/** The first answer; or the record itself, where the answer was kept by another version of the service. */
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
