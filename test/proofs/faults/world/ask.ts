import { endpointEnvironment } from '../../../../infra/local/access/local-roles.ts';
import { makeProxyEvent } from '../../../../infra/local/gateway/make-proxy-event.ts';
import { encodedPath, routeOf } from '../../../../infra/service/routes.ts';
import type { AnyEndpoint } from '../../../../shared/http/definition/middleware.ts';
import { type RequestMethod, servedMethods } from '../../../../shared/http/definition/request-method.ts';
import { lambda } from '../../../../shared/http/pipeline/lambda.ts';
import { credentials } from './engines.ts';

/** A request to one endpoint. */
export interface Question {
  /** Of an endpoint that serves several. */
  method?: RequestMethod;
  path?: Readonly<Record<string, string>>;
  query?: Readonly<Record<string, string>>;
  headers?: Readonly<Record<string, string>>;
  token?: string;
  body?: string;
}

export interface Answer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of any shape
  json: any;
}

/** Asks a function as the gateway would, without the network in between. */
export async function ask(
  endpoint: AnyEndpoint,
  environment: Readonly<Record<string, string | undefined>>,
  { method, path = {}, query = {}, headers = {}, token, body = '' }: Question,
): Promise<Answer> {
  const encoded = encodedPath(endpoint, path);
  const authorization = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  const event = makeProxyEvent(
    {
      method: method ?? servedMethods(endpoint.method)[0] ?? 'GET',
      path: encoded.path,
      query: new URLSearchParams(query).toString(),
      headers: Object.entries({ ...authorization, ...headers }),
      body: Buffer.from(body),
      sourceIp: '127.0.0.1',
    },
    routeOf(endpoint).resource,
    encoded.parameters,
  );
  const handler = lambda(endpoint, endpointEnvironment(endpoint, environment, credentials));
  // biome-ignore lint/suspicious/noExplicitAny: no function reads its Lambda context
  const { statusCode, body: text } = await handler(event, {} as any);
  return { status: statusCode, json: text === '' ? undefined : JSON.parse(text) };
}

/** The same, where anything but success is a fault of the test itself. */
export async function must(...question: Parameters<typeof ask>): Promise<Answer['json']> {
  const { status, json } = await ask(...question);
  if (status >= 300) throw new Error(`${question[0].name} answered ${status}: ${JSON.stringify(json)}`);
  return json;
}
