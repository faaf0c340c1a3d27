import { randomUUID } from 'node:crypto';
import { type Event, keepBody } from '../../../shared/http/pipeline/proxy-event.ts';

/**
 * Make a REST proxy event (payload 1.0), as API Gateway passes it to a Lambda function if all media types are
 * binary.
 */
export function makeProxyEvent(
  request: PlainRequest,
  resource: string,
  parameters: Record<string, string>,
): Event {
  const headers = gather(request.headers);
  const query = gather(new URLSearchParams(request.query));
  const hasQuery = request.query !== '';
  const now = Date.now();
  const { body } = request;
  const event: Event = {
    resource,
    path: request.path,
    httpMethod: request.method,
    headers: headers.last,
    multiValueHeaders: headers.all,
    queryStringParameters: hasQuery ? query.last : null,
    multiValueQueryStringParameters: hasQuery ? query.all : null,
    pathParameters: Object.keys(parameters).length === 0 ? null : parameters,
    stageVariables: null,
    get body() {
      return body.length === 0 ? null : Buffer.from(body).toString('base64');
    },
    isBase64Encoded: body.length > 0,
    requestContext: {
      accountId: '000000000000',
      apiId: 'local',
      authorizer: null,
      protocol: 'HTTP/1.1',
      httpMethod: request.method,
      identity: {
        accessKey: null,
        accountId: null,
        apiKey: null,
        apiKeyId: null,
        caller: null,
        clientCert: null,
        cognitoAuthenticationProvider: null,
        cognitoAuthenticationType: null,
        cognitoIdentityId: null,
        cognitoIdentityPoolId: null,
        principalOrgId: null,
        sourceIp: request.sourceIp,
        user: null,
        userAgent: headers.last['user-agent'] ?? null,
        userArn: null,
      },
      path: request.path,
      stage: 'local',
      requestId: randomUUID(),
      requestTimeEpoch: now,
      resourceId: resource,
      resourcePath: resource,
    },
  };
  return keepBody(event, body);
}

/** A received request before API Gateway turns it into an event. */
export interface PlainRequest {
  method: string;
  path: string;
  /** Raw query string without the question mark. */
  query: string;
  /** Header lines in pairs. */
  headers: readonly (readonly [name: string, value: string])[];
  body: Uint8Array;
  sourceIp: string;
}

function gather(pairs: Iterable<readonly [string, string]>): {
  last: Record<string, string>;
  all: Record<string, string[]>;
} {
  const all = new Map<string, string[]>();
  for (const [name, value] of pairs) {
    const values = all.get(name);
    if (values === undefined) all.set(name, [value]);
    else values.push(value);
  }
  const last = [...all].map(([name, values]) => [name, values.at(-1) ?? ''] as const);
  return { last: Object.fromEntries(last), all: Object.fromEntries(all) };
}
