import { createHash } from 'node:crypto';
import middy from '@middy/core';
import { createLogger, type Logger } from '../../core/log.ts';
import { type Environment, openServices, type Platform } from '../../core/needs.ts';
import { newId } from '../../core/new-id.ts';
import { readSettings } from '../../core/settings.ts';
import { stopped } from '../../core/stop-signal.ts';
import { renderAnswer } from '../answer/render-answer.ts';
import { renderError } from '../answer/render-error.ts';
import { expectedVersion, parseInput } from '../body/validate-input.ts';
import { resolveCursor } from '../definition/cursor.ts';
import type { AuditFacts, Patience } from '../definition/endpoint-context.ts';
import type { AnyEndpoint, Exchange, Middleware } from '../definition/middleware.ts';
import { parseMaskOfRequest } from '../fields-mask/fields-mask.ts';
import { beginAudit } from './audit.ts';
import { authenticate, authorize } from './authenticate.ts';
import { refuseForeignPage, withCors } from './cors.ts';
import { type HeavyRequest, HeavyWork } from './heavy-work.ts';
import { answerOnce } from './idempotency.ts';
import { ownUrl } from './own-url.ts';
import { requireProjectOfPath } from './project-authorization.ts';
import type { Event, LambdaContext, Result } from './proxy-event.ts';
import { headerOf } from './proxy-event.ts';

/** A Lambda function behind a REST proxy route. */
export interface Handler {
  (event: Event, context: LambdaContext): Promise<Result>;
  /**
   * Return the refusal of a caller without the right to call, which needs no body; undefined for any other caller.
   */
  refuse?(event: Event): Promise<Result | undefined>;
  /** Return the user id of the caller of a request that was identified. */
  callerOf?(event: Event): string | undefined;
}

interface Process {
  platform: Platform;
  log: Logger;
  services: Readonly<Record<string, unknown>>;
}

const neverAborted = new AbortController().signal;

/**
 * Steps that identify the caller. No other work begins before they have ended, so a caller without rights learns
 * nothing about the request, and a refused request costs nothing more.
 */
const callerSteps: readonly Middleware[] = [authenticate, authorize];

/**
 * Create the Lambda handler of an endpoint. It processes HEAD like GET: API Gateway computes the Content-Length
 * from the body and then drops the body. It reads the environment and opens clients at its first request, not on
 * import.
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
      park: context?.park,
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

  const handler = middy<Event, Result>(async (event: Event) => {
    const exchange = exchangeOf(event);
    await takeSteps(callerSteps, exchange);
    return answer(exchange, started?.services ?? {});
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
      await takeSteps(callerSteps, exchange);
      return undefined;
    } catch (error) {
      return finish(event, renderError(error, exchange.requestId, exchange.log, endpoint.errorBody));
    }
  };
  const callerOf = (event: Event) => exchanges.get(event)?.caller?.user_id;
  return Object.assign((event: Event, context: LambdaContext) => handler(event, context), {
    refuse,
    callerOf,
  });
}

function startProcess(endpoint: AnyEndpoint, environment: Environment): Process {
  const settings = readSettings(environment);
  const platform = { environment, settings };
  const log = createLogger(settings.logLevel, (line) => process.stdout.write(line));
  return { platform, log, services: openServices(endpoint.needs, platform) };
}

async function takeSteps(steps: readonly Middleware[], exchange: Exchange): Promise<void> {
  for (const step of steps) await step(exchange);
}

/** Refuse by the input. The casts hold, because earlier steps parsed it. */
const permit: Middleware = ({ endpoint, input, caller, platform: { settings } }) =>
  endpoint.permit?.(input as never, { caller, settings } as never);

/** The steps between these and `handle`, in order. */
const requestSteps: readonly Middleware[] = [
  parseInput,
  resolveCursor,
  permit,
  parseMaskOfRequest,
  requireProjectOfPath,
];

/** The heavy work of this process. */
const heavyWork = new HeavyWork();

/** Return the response to a request with a known caller. */
async function answer(exchange: Exchange, services: Process['services']): Promise<Result> {
  await takeSteps(requestSteps, exchange);
  const act = () => runHandler(exchange, services);
  const heavy = heavyRequest(exchange);
  if (heavy === undefined) return renderAnswer(exchange, await act());
  return renderAnswer(exchange, await heavyWork.run(heavy, act));
}

/** Call `handle` with its context. The casts hold, because the earlier steps checked every part of it. */
async function runHandler(exchange: Exchange, services: Process['services']): Promise<unknown> {
  const { endpoint, event, platform, log, requestId, input, caller, checked } = exchange;
  const audit = beginAudit(exchange);
  const context = {
    ...(audit?.services(services) ?? services),
    ...checked,
    caller,
    now: () => new Date(),
    newId,
    idempotencyWrites: () => [],
    noteAudit: (facts: AuditFacts) => audit?.note(facts),
    log,
    settings: platform.settings,
    requestId,
    sourceIp: event.requestContext.identity.sourceIp,
    requestPath: event.requestContext.path,
    header: (name: string) => headerOf(event, name.toLowerCase()),
    ownUrl: () => ownUrl(event, endpoint.path, platform.settings),
    expectedVersion: expectedVersion(event),
    patience: patienceOf(exchange),
  };
  return answerOnce(exchange, services, {
    act: (writesOf) => {
      const idempotencyWrites = (id: string) => {
        audit?.note({ subject: { created: id } });
        return writesOf(id);
      };
      return endpoint.handle(input as never, { ...context, idempotencyWrites } as never);
    },
    replayCreated: async (id) =>
      endpoint.idempotent?.kind === 'creates' && endpoint.idempotent.replayCreated(id, context as never),
  });
}

function patienceOf(exchange: Exchange): Patience | undefined {
  const { park, signal } = exchange;
  const recheck = () => takeSteps([...callerSteps, requireProjectOfPath], exchange);
  return (
    park && {
      recheck,
      async park(wait) {
        const hasWaited = await park(wait);
        if (signal.aborted) throw stopped();
        if (hasWaited) await recheck();
        return hasWaited;
      },
    }
  );
}

/** Return the request as a piece of heavy work; undefined if it is not heavy. */
function heavyRequest({ endpoint, event, input, caller, signal }: Exchange): HeavyRequest | undefined {
  const accept = headerOf(event, 'accept');
  if (endpoint.isHeavy?.(input as never, { accept }) !== true) return undefined;
  const user_id = caller?.user_id ?? '';
  const asker = endpoint.project === undefined ? user_id : '';
  // Links have no caller.
  const presented = caller === undefined ? headerOf(event, 'authorization') : undefined;
  const key = JSON.stringify(
    [endpoint.name, accept, asker, caller?.scope, presented, input],
    (_, value: unknown) => {
      if (value instanceof URLSearchParams) return value.toString();
      return value instanceof Uint8Array ? createHash('sha256').update(value).digest('hex') : value;
    },
  );
  return { key, caller: user_id, signal };
}
