import type { AnyEndpoint } from '../../../../shared/http/definition/exchange.ts';
import { servedMethods } from '../../../../shared/http/definition/request-method.ts';
import type { JsonSchema } from '../../../../shared/http/openapi/json-schema.ts';
import type { Event } from '../../../../shared/http/pipeline/proxy-event.ts';
import { makeProxyEvent } from '../../../local/gateway/make-proxy-event.ts';
import { encodedPath, routeOf, variablesOf } from '../../../service/routes.ts';

/** Existing resources, by the names of parameters. */
export type Facts = Readonly<Record<string, string>>;

/** An operation of the OpenAPI document, as far as requests are made of it. */
interface Operation {
  parameters?: { name: string; in: string; required?: boolean; example?: unknown; schema: JsonSchema }[];
  requestBody?: {
    required?: boolean;
    content: Record<string, { schema?: JsonSchema; example?: Record<string, unknown> }>;
  };
}

/** A red square. */
const picture = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEklEQVR4nGP4z8CAFWEXHbQSACj/P8Fu7N9hAAAAAElFTkSuQmCC',
  'base64',
);

function bodyOf(
  { name }: AnyEndpoint,
  { requestBody }: Operation,
  facts: Facts,
): { type: string; bytes: Uint8Array } | undefined {
  const types = Object.entries(requestBody?.content ?? {});
  const json = types.find(([type]) => type === 'application/json');
  if (json !== undefined) {
    const given = Object.entries(json[1].example ?? {}).map(([field, value]) => [
      field,
      facts[field] ?? value,
    ]);
    const bytes = Buffer.from(JSON.stringify(Object.fromEntries(given)));
    return { type: 'application/json', bytes };
  }
  const [type] = types.map(([one]) => one);
  if (type === undefined) return undefined;
  return { type, bytes: name === 'putProfilePicture' ? picture : Buffer.from('epochs: 3\n') };
}

/** The REST proxy event of a request for an operation: its examples, with existing resources in their places. */
export function requestFor(endpoint: AnyEndpoint, operation: Operation, facts: Facts, token: string): Event {
  const value = (name: string, example: unknown) => facts[name] ?? String(example ?? 'x');
  const parameters = operation.parameters ?? [];
  const query = parameters
    .filter((one) => one.in === 'query' && one.required === true)
    .map(({ name, example }): [string, string] => [name, value(name, example)]);
  const inPath = variablesOf(endpoint.path).map((name) => {
    const parameter = parameters.find((one) => one.in === 'path' && one.name === name);
    return [name, value(name, parameter?.example)] as const;
  });
  const encoded = encodedPath(endpoint, Object.fromEntries(inPath));
  const body = bodyOf(endpoint, operation, facts);
  return makeProxyEvent(
    {
      method: servedMethods(endpoint.method).includes('GET') ? 'GET' : endpoint.method,
      path: encoded.path,
      query: new URLSearchParams(query).toString(),
      headers: [
        ...(token === '' ? [] : [['Authorization', `Bearer ${token}`] as const]),
        ['Accept', '*/*'],
        ...(body === undefined ? [] : [['Content-Type', body.type] as const]),
      ],
      body: body?.bytes ?? new Uint8Array(),
      sourceIp: '192.0.2.1',
    },
    routeOf(endpoint).resource,
    encoded.parameters,
  );
}
