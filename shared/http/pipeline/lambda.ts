import { createHash } from 'node:crypto';
import middy from '@middy/core';
import { createLogger, type Logger } from '../../core/log.ts';
import { type Environment, openServices, type Platform } from '../../core/needs.ts';
import { newId } from '../../core/new-id.ts';
import { readSettings } from '../../core/settings.ts';
import { renderAnswer } from '../answer/render-answer.ts';
import { renderError } from '../answer/render-error.ts';
import { expectedVersion, parseInput } from '../body/parse-input.ts';
import type { AnyEndpoint, Before, Exchange } from '../definition/exchange.ts';
import { parseMaskOfRequest } from '../fields-mask/fields-mask.ts';
import { answerAhead } from './answer-ahead.ts';
import { answerOnce } from './answer-once.ts';
import { authenticate, authorize } from './authenticate.ts';
import { withCors } from './cors.ts';
import { ExpectedCallers } from './expected-callers.ts';
import { type HeavyRequest, HeavyWork } from './heavy-work.ts';
import { requireProjectOfPath } from './project-rule.ts';
import type { Event, LambdaContext, Result } from './proxy-event.ts';
import { headerOf } from './proxy-event.ts';
import { refuseForeignPage } from './refuse-foreign-page.ts';
import { resolveCursor } from './resolve-cursor.ts';

/** A Lambda function behind a REST proxy route. */
export interface Handler {
  (event: Event, context: LambdaContext): Promise<Result>;
  /** The refusal of a caller who may not ask at all, which needs no body; undefined for everybody else. */
  refuse?(event: Event): Promise<Result | undefined>;
  /** Whether the caller could ask at the last time, which tells nothing for certain. */
  isExpected?(event: Event): boolean;
}

/** Refuses by what is asked for; the casts rest on the steps before. */
const permit: Before = ({ endpoint, input, caller, platform: { settings } }) =>
  endpoint.permit?.(input as never, { caller, settings } as never);

/** The steps that tell who asks, before all others: no one learns what is wrong with a request they may not make. */
const callerSteps: readonly Before[] = [authenticate, authorize];

/** The steps between these and the behaviour, in their order. */
const requestSteps: readonly Before[] = [
  parseInput,
  resolveCursor,
  permit,
  parseMaskOfRequest,
  requireProjectOfPath,
];

async function takeSteps(steps: readonly Before[], exchange: Exchange): Promise<void> {
  for (const step of steps) await step(exchange);
}

interface Process {
  platform: Platform;
  log: Logger;
  services: Readonly<Record<string, unknown>>;
}

function startProcess(endpoint: AnyEndpoint, environment: Environment): Process {
  const settings = readSettings(environment);
  const platform = { environment, settings };
  const log = createLogger(settings.logLevel, (line) => process.stdout.write(line));
  return { platform, log, services: openServices(endpoint.needs, platform) };
}

/** What the behaviour receives: all of it was checked by the steps before, which is what the casts rest on. */
async function runHandler(exchange: Exchange, services: Process['services']): Promise<unknown> {
  const { endpoint, event, platform, log, requestId, input, caller, checked } = exchange;
  const context = {
    ...services,
    ...checked,
    caller,
    now: () => new Date(),
    newId,
    idempotencyWrites: () => [],
    log,
    settings: platform.settings,
    requestId,
    sourceIp: event.requestContext.identity.sourceIp,
    requestPath: event.requestContext.path,
    header: (name: string) => headerOf(event, name.toLowerCase()),
    expectedVersion: expectedVersion(event),
  };
  return answerOnce(exchange, services, {
    act: (idempotencyWrites) => endpoint.handle(input as never, { ...context, idempotencyWrites } as never),
    replayCreated: async (id) =>
      endpoint.idempotent?.kind === 'creates' && endpoint.idempotent.replayCreated(id, context as never),
  });
}

/** The answer to a request whose caller is known. */
async function answer(exchange: Exchange, services: Process['services']): Promise<Result> {
  await takeSteps(requestSteps, exchange);
  const act = () => runHandler(exchange, services);
  const heavy = heavyRequest(exchange);
  if (heavy === undefined) return renderAnswer(exchange, await act());
  // Others may share what waits: it must not fail because this caller turns out to be somebody else.
  if (!heavyWork.isFree(heavy.key)) await exchange.confirmed;
  return renderAnswer(exchange, await heavyWork.run(heavy, act));
}

/** All that this process does. */
const heavyWork = new HeavyWork();
const neverAborted = new AbortController().signal;

/** The request as one for heavy work; undefined where it is none. */
function heavyRequest({ endpoint, event, input, caller, signal }: Exchange): HeavyRequest | undefined {
  const accept = headerOf(event, 'accept');
  if (endpoint.isHeavy?.(input as never, { accept }) !== true) return undefined;
  const user_id = caller?.user_id ?? '';
  const asker = endpoint.project === undefined ? user_id : '';
  const key = JSON.stringify([endpoint.name, accept, asker, input], (_, value: unknown) => {
    if (value instanceof URLSearchParams) return value.toString();
    return value instanceof Uint8Array ? createHash('sha256').update(value).digest('hex') : value;
  });
  return { key, caller: user_id, signal };
}

/**
 * The Lambda handler of an endpoint. HEAD is answered like GET, whole: what sends the answer leaves its body out, and
 * alone knows the Content-Length that API Gateway computes from it. The handler
 * reads the environment and opens clients at its first request, not on import.
 */
export function lambda(endpoint: AnyEndpoint, environment: Environment = process.env): Handler {
  let started: Process | undefined;

  const exchanges = new WeakMap<Event, Exchange>();
  const exchangeOf = (event: Event, context?: LambdaContext): Exchange => {
    const present = exchanges.get(event);
    if (present !== undefined) return present;
    started ??= startProcess(endpoint, environment);
    const requestId = event.requestContext?.requestId ?? newId();
    const log = started.log.with({ request_id: requestId, endpoint: endpoint.name });
    const exchange: Exchange = {
      endpoint,
      platform: started.platform,
      event,
      requestId,
      startedAt: performance.now(),
      log,
      signal: context?.signal ?? neverAborted,
    };
    exchanges.set(event, exchange);
    return exchange;
  };

  const finish = (event: Event, result: Result): Result => {
    const { log, startedAt, caller, platform } = exchangeOf(event);
    log.info('request', {
      method: event.httpMethod,
      path: endpoint.path,
      status: result.statusCode,
      milliseconds: Math.round(performance.now() - startedAt),
      user_id: caller?.user_id,
    });
    return withCors(result, platform.settings.corsOrigins, headerOf(event, 'origin'));
  };

  const callers = new ExpectedCallers();
  const identify = async (exchange: Exchange): Promise<void> => {
    try {
      await takeSteps(callerSteps, exchange);
    } catch (error) {
      callers.note(exchange, undefined);
      throw error;
    }
    callers.note(exchange, exchange.caller);
  };

  const handler = middy<Event, Result>(async (event: Event) => {
    const exchange = exchangeOf(event);
    const services = started?.services ?? {};
    const expected = callers.of(exchange);
    if (expected !== undefined) return answerAhead(exchange, services, expected, { identify, answer });
    await identify(exchange);
    return answer(exchange, services);
  });
  handler.before(({ event, context }) => refuseForeignPage(exchangeOf(event, context)));
  handler.after((request) => {
    if (request.response) request.response = finish(request.event, request.response);
  });
  handler.onError((request) => {
    const { requestId, log } = exchangeOf(request.event);
    request.response = finish(request.event, renderError(request.error, requestId, log, endpoint.errorBody));
  });
  const refuse = async (event: Event): Promise<Result | undefined> => {
    const exchange = exchangeOf(event);
    try {
      await refuseForeignPage(exchange);
      await identify(exchange);
      return undefined;
    } catch (error) {
      return finish(event, renderError(error, exchange.requestId, exchange.log, endpoint.errorBody));
    }
  };
  const isExpected = (event: Event): boolean => callers.of({ event, endpoint }) !== undefined;
  return Object.assign((event: Event, context: LambdaContext) => handler(event, context), {
    refuse,
    isExpected,
  });
}
