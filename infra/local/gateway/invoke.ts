import { ServiceError } from '../../../shared/core/service-error.ts';
import type { Handler } from '../../../shared/http/lambda.ts';
import { fitsPayload } from '../../../shared/http/payload-bytes.ts';
import type { Event, LambdaContext, Result } from '../../../shared/http/proxy-event.ts';

/** After so long API Gateway gives up on a function. */
const defaultTimeLimit = 29_000;

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

/** Call a function as API Gateway does. @throws ServiceError 503 without a response within the limit, in milliseconds */
export async function invoke(
  { name, handler }: { name: string; handler: Handler },
  event: Event,
  timeLimit = defaultTimeLimit,
): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const detail = `The operation did not end within ${timeLimit / 1000} s. It may still take effect.`;
      reject(new ServiceError('unavailable', detail, { retryAfterSeconds: 5 }));
    }, timeLimit);
  });
  try {
    const answer = await Promise.race([handler(event, contextOf(event, name, Date.now() + timeLimit)), late]);
    // Lambda fails such an invocation, and API Gateway answers 502.
    if (!fitsPayload(answer)) throw new Error(`the answer of ${name} is larger than Lambda sends`);
    return answer;
  } finally {
    clearTimeout(timer);
  }
}
