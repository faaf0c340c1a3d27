import { mlflowUploadAssignments } from '../../../../shared/core/mlflow-upload-variables.ts';
import { securityHeaders } from '../../../../shared/http/answer/security-headers.ts';
import type { ProblemKind } from '../../../../shared/http/definition/problem.ts';
import { problemKinds } from '../../../../shared/http/definition/problem.ts';

/**
 * Return API Gateway's own responses in the format of the service's problems, by the type of the response, as the
 * extension `x-amazon-apigateway-gateway-responses` has them. If there is a single CORS origin, let it read them.
 */
export function gatewayResponses(corsOrigins: readonly string[]): Record<string, GatewayResponse> {
  const [origin, ...others] = corsOrigins;
  const forBrowsers =
    origin === undefined || others.length > 0
      ? {}
      : { 'Access-Control-Allow-Origin': origin, Vary: 'Origin' };
  const responses = ownAnswers.map(([type, { kind, detail, retryAfter }]) => {
    const { status, title } = problemKinds[kind];
    const headers = {
      ...securityHeaders,
      'Content-Security-Policy': contentSecurityPolicy,
      ...forBrowsers,
      'Content-Type': 'application/problem+json',
      'Cache-Control': 'no-store',
      ...(retryAfter !== undefined && { 'Retry-After': String(retryAfter) }),
    };
    const body = {
      type: `/docs#problem-${kind}`,
      title,
      status,
      detail,
      instance: '$context.requestId',
      errors: [],
      message: detail,
      // The member that clients of the Open Inference Protocol read.
      error: detail,
    };
    const response: GatewayResponse = {
      statusCode: status,
      responseParameters: Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [
          `gatewayresponse.header.${name}`,
          staticValue(value),
        ]),
      ),
      responseTemplates: { 'application/json': JSON.stringify(body) },
    };
    return [type, response] as const;
  });
  return Object.fromEntries(responses);
}

/** A response that API Gateway gives itself, without a function. */
interface GatewayResponse {
  statusCode: number;
  responseParameters: Record<string, string>;
  responseTemplates: Record<string, string>;
}

const nothingHere: OwnAnswer = { kind: 'not-found', detail: 'There is nothing at this path.' };

const badRequest: OwnAnswer = { kind: 'bad-request', detail: 'The request cannot be parsed.' };

const tooMany: OwnAnswer = {
  kind: 'too-many-requests',
  detail: 'The service accepts no more requests at the moment.',
  retryAfter: 1,
};

const noAnswer: OwnAnswer = {
  kind: 'unavailable',
  detail: 'The operation did not end in time. It may still take effect.',
  retryAfter: 5,
};

/**
 * Lambda refuses to start a function (429 TooManyRequestsException). API Gateway calls that an integration
 * failure.
 */
const notStarted: OwnAnswer = {
  kind: 'unavailable',
  detail: 'Too many operations run at the moment. Try again after a few seconds.',
  retryAfter: 2,
};

/**
 * The gateway responses of API Gateway, in the format of the service's problems. Every route serves every method,
 * so other refusals (mostly for a missing signature) mean that the path does not exist.
 */
export const ownAnswers: readonly (readonly [string, OwnAnswer])[] = [
  ['DEFAULT_4XX', nothingHere],
  ['BAD_REQUEST_BODY', badRequest],
  ['BAD_REQUEST_PARAMETERS', badRequest],
  [
    'REQUEST_TOO_LARGE',
    {
      kind: 'too-large',
      detail: `A request may have at most 10 MB. To make MLflow clients send larger files in parts, set ${mlflowUploadAssignments.join(' and ')}.`,
    },
  ],
  ['THROTTLED', tooMany],
  ['INTEGRATION_TIMEOUT', noAnswer],
  ['INTEGRATION_FAILURE', notStarted],
  [
    'DEFAULT_5XX',
    { kind: 'internal', detail: 'The service failed unexpectedly. Search its log for the request ID.' },
  ],
];

interface OwnAnswer {
  kind: ProblemKind;
  detail: string;
  retryAfter?: number;
}

/**
 * Content-Security-Policy of a problem, which is not a page. API Gateway encloses static values in single quotes
 * and has no documented escape for a quote, so 'none' is impossible. A directive without sources means the same.
 */
const contentSecurityPolicy = 'default-src; frame-ancestors; sandbox';

/** @throws if API Gateway cannot store the value */
function staticValue(value: string): string {
  if (value.includes("'")) throw new Error(`a header of a gateway response cannot hold a quote: ${value}`);
  return `'${value}'`;
}
