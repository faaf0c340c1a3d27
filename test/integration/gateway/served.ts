import type { ServedEndpoint } from '../../../infra/local/gateway/gateway-server.ts';
import { eventBodyMaxBytes } from '../../../infra/local/gateway/receive-event-body.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { file } from '../../../shared/http/definition/endpoint-input.ts';
import type { Method } from '../../../shared/http/definition/request-method.ts';
import type { Event, Result } from '../../../shared/http/pipeline/proxy-event.ts';

export type Behaviour = (event: Event) => Promise<Result> | Result;

/** An endpoint of which only the route counts: the behaviour answers in place of its handler. */
export function served(method: Method, path: `/${string}`, behaviour: Behaviour): ServedEndpoint {
  const endpoint = defineEndpoint({
    name: 'probe',
    method,
    path,
    summary: 'A probe',
    allow: 'anyone',
    needs: {},
    input: ['POST', 'PUT'].includes(method) ? { body: file(['*/*'], eventBodyMaxBytes) } : {},
    output: {},
    handle: () => Promise.reject(new Error('not called')),
  });
  return { file: `${path}.endpoint.ts`, endpoint, handler: async (event) => behaviour(event) };
}
