import { ServiceError } from '../../../shared/core/service-error.ts';
import { fitsPayload } from '../../../shared/http/answer/payload-bytes.ts';
import type { Handler } from '../../../shared/http/pipeline/lambda.ts';
import type { Event, LambdaContext, Park, Result } from '../../../shared/http/pipeline/proxy-event.ts';

/**
 * Call a function as API Gateway does. Abort its work at the time limit, and when the client has gone.
 * @throws ServiceError 503 if there is no response within the limit
 */
export async function invoke(
  { name, handler }: { name: string; handler: Handler },
  event: Event,
  { timeLimit = defaultTimeLimit, gone, park }: InvokeOptions = {},
): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const over = new AbortController();
  const signal = gone === undefined ? over.signal : AbortSignal.any([over.signal, gone]);
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      over.abort();
      const detail = `The operation did not end within ${timeLimit / 1000} s. It may still take effect.`;
      reject(new ServiceError('unavailable', detail, { retryAfterSeconds: 5 }));
    }, timeLimit);
  });
  try {
    const answer = await Promise.race([
      handler(event, { ...contextOf(event, name, Date.now() + timeLimit), signal, ...parking(park, signal) }),
      late,
    ]);
    // Lambda fails such an invocation, and API Gateway answers 502.
    if (!fitsPayload(answer)) throw new Error(`the response of ${name} is larger than Lambda allows`);
    return answer;
  } finally {
    clearTimeout(timer);
  }
}

/** API Gateway's timeout of a function. */
const defaultTimeLimit = 29_000;

interface InvokeOptions {
  /** Time limit of the function in milliseconds; default 29 s. */
  timeLimit?: number | undefined;
  /** Aborts when the client has gone. */
  gone?: AbortSignal | undefined;
  park?: Park | undefined;
}

/** A request that needs no response any more waits no longer. */
const parking = (park: Park | undefined, signal: AbortSignal): Pick<LambdaContext, 'park'> =>
  park === undefined ? {} : { park: (wait) => park((closing) => wait(AbortSignal.any([signal, closing]))) };

function contextOf(event: Event, functionName: string, deadline: number): LambdaContext {
  const { requestId } = event.requestContext;
  return {
    callbackWaitsForEmptyEventLoop: false,
    functionName,
    functionVersion: '$LATEST',
    invokedFunctionArn: `arn:aws:lambda:local:000000000000:function:${functionName}`,
    memoryLimitInMB: '256',
    awsRequestId: requestId,
    logGroupName: functionName,
    logStreamName: 'local',
    getRemainingTimeInMillis: () => Math.max(0, deadline - Date.now()),
    done: () => {},
    fail: () => {},
    succeed: () => {},
  };
}
