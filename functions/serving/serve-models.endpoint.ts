import { badRequest, ServiceError } from '../../shared/core/service-error.ts';
import { renderJson } from '../../shared/http/answer/render-answer.ts';
import { parsePart } from '../../shared/http/body/parse-part.ts';
import { decodePathVariable } from '../../shared/http/body/percent-encoding.ts';
import { defineEndpoint } from '../../shared/http/definition/definition.ts';
import type { RawRequest } from '../../shared/http/definition/endpoint-input.ts';
import { content } from '../../shared/http/definition/endpoint-output.ts';
import type { AnyEndpoint } from '../../shared/http/definition/middleware.ts';
import { Reply } from '../../shared/http/definition/reply.ts';
import { maxBodyBytes, operations } from './operations.ts';
import { servingNeeds, servingRuntime, servingThrottle } from './serving-needs.ts';

/**
 * The Open Inference Protocol for every served model. One function serves all of it, because an instance that has one
 * model in memory has the others on its disk, and a client asks several operations in a row.
 */
export const endpoint = defineEndpoint({
  name: 'serveModels',
  method: 'ANY',
  path: '/v2/{v2_path+}',
  summary: 'The Open Inference Protocol',
  allow: 'anyone',
  right: 'read',
  keepsToProjects: true,
  throttle: servingThrottle,
  audit: { never: 'requests to a model change nothing; their counts are its usage' },
  needs: servingNeeds,
  runtime: servingRuntime,
  input: { request: { maxBytes: maxBodyBytes } },
  work: 'page: the index lists at most 1,000 models; a request to a model runs it in a process of its own for 25 s',
  output: { 200: content(['application/json', 'application/octet-stream']) },
  operations,
  // Whether a caller must sign in depends on the model, so a token that is sent must be good.
  permit() {},
  errorBody: ({ status, detail }) => ({ error: status === 413 ? `${detail} ${smallerForm}` : detail }),

  async handle({ request }, context) {
    const { operation, path } = operationOf(request);
    const body = { mediaType: request.mediaType, bytes: request.bytes };
    const answer = await operation.handle({ path, body } as never, context);
    if (answer instanceof Reply) return answer as Reply<never>;
    return Reply.content('application/json', await renderJson(operation, answer));
  },
});

/** Bodies and answers have the same limit, and the same way to need less of it. */
const smallerForm =
  'Content-Encoding: gzip helps a body (up to 64 MiB unpacked are read); binary tensors (header Inference-Header-Content-Length) take about a third of the bytes of JSON; an FP32 input takes FP16, too, in half of the bytes, so that a picture of 3 x 640 x 640 fits.';

/** Operations with the parts of their paths: fixed words, and names of variables. */
const routes = operations.map((operation) => ({
  operation,
  parts: operation.path
    .slice(1)
    .split('/')
    .map((word) => ({ word, name: /^\{(.+)\}$/.exec(word)?.[1] })),
}));

/** Find the operation of a request, with the variables of its path. */
function operationOf({ method, path }: RawRequest) {
  const asked = method === 'HEAD' ? 'GET' : method;
  const segments = ['v2', ...path.replace(/\/$/, '').split('/')].map(decoded);
  const there = routes.flatMap(({ operation, parts }) => {
    const variables = matched(parts, segments);
    return variables === undefined ? [] : [{ operation, path: variables }];
  });
  const route = there.find(({ operation }) => operation.method === asked);
  if (route !== undefined) {
    const { input }: AnyEndpoint = route.operation;
    const inPath = { values: route.path, placeOf: () => 'path' as const };
    const { value, faults } = parsePart(input.path, inPath);
    if (faults.length > 0) throw badRequest(faults);
    return { ...route, path: value };
  }
  const methods = there.map(({ operation }) => operation.method).join(', ');
  const detail =
    methods === ''
      ? `The Open Inference Protocol has no operation at /v2/${path}.`
      : `/v2/${path} takes ${methods}, not ${method}.`;
  throw new ServiceError('not-found', detail);
}

function decoded(segment: string): string {
  const value = decodePathVariable(segment);
  if (value === undefined) throw new ServiceError('not-found', 'The path is not UTF-8.');
  return value;
}

function matched(
  parts: (typeof routes)[number]['parts'],
  segments: readonly string[],
): Record<string, string> | undefined {
  if (parts.length !== segments.length) return undefined;
  const variables: Record<string, string> = {};
  for (const [index, { word, name }] of parts.entries()) {
    const segment = segments[index] ?? '';
    if (name !== undefined) variables[name] = segment;
    else if (word !== segment) return undefined;
  }
  return variables;
}
