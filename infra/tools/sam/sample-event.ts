import type { AnyEndpoint } from '../../../shared/http/definition/exchange.ts';
import { CommandError } from '../../command/command-error.ts';
import { makeProxyEvent } from '../../local/gateway/make-proxy-event.ts';
import { samples } from '../../service/openapi/document-samples.ts';
import { encodedPath, routeOf, variablesOf } from '../../service/routes.ts';
import type { SampleRequest } from './sam-options.ts';

/** JSON where it is some, a form otherwise, as curl sends it. */
function mediaTypeOf(body: string): string {
  return /^\s*[{[]/.test(body) ? 'application/json' : 'application/x-www-form-urlencoded';
}

/**
 * The event that API Gateway would make of such a request. Path variables that were not given get the samples of the
 * reference.
 * @throws CommandError for a variable that the path does not have
 */
export function sampleEvent(endpoint: AnyEndpoint, { path, query, body, token }: SampleRequest) {
  const names = variablesOf(endpoint.path);
  const unknown = Object.keys(path).find((name) => !names.includes(name));
  if (unknown !== undefined) throw new CommandError(`${endpoint.path} has no variable ${unknown}.`);
  const values = names.map((name) => [name, path[name] ?? String(samples[name] ?? name)] as const);
  const encoded = encodedPath(endpoint, Object.fromEntries(values));
  return makeProxyEvent(
    {
      method: endpoint.method,
      path: encoded.path,
      query,
      headers: [
        ['Accept', 'application/json'],
        ...(token === undefined ? [] : [['Authorization', `Bearer ${token}`] as const]),
        ...(body === undefined ? [] : [['Content-Type', mediaTypeOf(body)] as const]),
      ],
      body: Buffer.from(body ?? ''),
      sourceIp: '127.0.0.1',
    },
    routeOf(endpoint).resource,
    encoded.parameters,
  );
}
