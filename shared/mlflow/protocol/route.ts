import * as z from 'zod';
import type { ScopeRule, TokenRight } from '../../data/accounts/token-scope.ts';
import { isDeepJson, maxJsonDepth } from '../../http/body/json-depth.ts';
import { decodePathVariable } from '../../http/body/percent-encoding.ts';
import type { RawRequest } from '../../http/definition/endpoint-input.ts';
import { Reply } from '../../http/definition/reply.ts';
import type { MlflowContext } from './context.ts';
import { mlflowError } from './mlflow-error.ts';

/** One operation of MLflow's API: a method, a path below `/mlflow/`, and a handler. */
export interface Route extends ScopeRule {
  method: RawRequest['method'];
  /** Path pattern: literal segments, `{name}` for one segment, and `{name+}` for all remaining segments. */
  path: string;
  handle(
    request: RawRequest,
    variables: Readonly<Record<string, string>>,
    context: MlflowContext,
  ): Promise<Answered>;
}

type Answered = Reply<never>;

/**
 * Let tokens with a scope that has this right use routes.
 * @param keepsToProjects whether they reach projects only by `requireAccess` and `ownAndShared`
 */
export const allowing = (right: TokenRight, routes: readonly Route[], keepsToProjects = true): Route[] =>
  routes.map((one) => ({ ...one, right, keepsToProjects }));

/** Define a route that takes fields and returns JSON. The variables of its path are also fields. */
export function route<S extends z.ZodObject>(
  call: `${RawRequest['method']} ${string}`,
  schema: S,
  handle: (input: z.output<S>, context: MlflowContext) => Promise<object | Answered>,
): Route {
  const [method, path = ''] = call.split(' ');
  return {
    method: method as RawRequest['method'],
    path,
    async handle(request, variables, context) {
      const query = new URLSearchParams(request.query);
      for (const [name, value] of Object.entries(variables)) query.set(name, value);
      const input = parseRequest(schema, { ...request, query });
      context.noteAudit({ subject: subjectOf(input) });
      const answer: object = await handle(input, context);
      return answer instanceof Reply ? (answer as Answered) : answerJson(answer);
    },
  };
}

/** Fields that say what a request is about, besides runs and projects (`requireRun`, `requireAccess`). */
const subjects = ['model_id', 'name', 'version', 'alias'];

const subjectOf = (input: object): Record<string, string | number> =>
  Object.fromEntries(
    Object.entries(input).filter(
      ([field, value]) =>
        subjects.includes(field) && (typeof value === 'string' || typeof value === 'number'),
    ),
  );

/**
 * Parse the fields of a request from the query or the JSON body. As in Protocol Buffers, a field without a value
 * counts as absent, and unknown fields are ignored.
 * @throws ServiceError `INVALID_PARAMETER_VALUE` that names every fault
 */
function parseRequest<S extends z.ZodObject>(schema: S, request: RawRequest): z.output<S> {
  const body = fromBody(request.bytes);
  const asked: Record<string, unknown> = { ...fromQuery(request.query, schema), ...body };
  // Clients before 2.0 send the run id as `run_uuid`.
  const sent = { run_id: asked['run_uuid'], ...asked };
  const given = Object.fromEntries(
    Object.entries(sent).filter(([, value]) => value !== null && value !== undefined),
  );
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map((issue) => faultOf(given, issue));
  throw mlflowError('INVALID_PARAMETER_VALUE', [...new Set(faults)].slice(0, 10).join(' '));
}

function fromBody(bytes: Uint8Array): Record<string, unknown> {
  if (bytes.length === 0) return {};
  let value: unknown;
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    value = isDeepJson(text) ? undefined : JSON.parse(text);
  } catch {
    throw mlflowError('BAD_REQUEST', 'The body is not valid JSON in UTF-8.');
  }
  if (value === undefined)
    throw mlflowError('BAD_REQUEST', `The body is nested deeper than ${maxJsonDepth} levels.`);
  // Some clients send the JSON text as a JSON string.
  if (typeof value === 'string') return fromBody(Buffer.from(value));
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  throw mlflowError('BAD_REQUEST', 'The body must be a JSON object.');
}

function fromQuery(query: URLSearchParams, { shape }: z.ZodObject): Record<string, unknown> {
  const entries = [...new Set(query.keys())].map((name): [string, unknown] => [
    name,
    isList(shape[name]) ? query.getAll(name) : query.get(name),
  ]);
  return Object.fromEntries(entries);
}

/** Whether a schema is a list, inside optional and default wrappers. */
function isList(schema: unknown): boolean {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault) return isList(schema.unwrap());
  return schema instanceof z.ZodArray;
}

function faultOf(sent: unknown, { path, message }: { path: PropertyKey[]; message: string }): string {
  const name = pathOf(path);
  const value = valueAt(sent, path);
  if (value === undefined || value === null || value === '')
    return `Missing value for required parameter '${name}'.`;
  if (message.startsWith('exceeds ')) return `'${name}' ${message}.`;
  const shown = JSON.stringify(value).slice(0, maxShown);
  return `Invalid value ${shown} for parameter '${name}' supplied: ${message}`;
}

/** Format a path, for example `metrics[0].key`. */
const pathOf = (path: readonly PropertyKey[]): string =>
  path.reduce<string>(
    (text, part) =>
      typeof part === 'number' ? `${text}[${part}]` : text === '' ? String(part) : `${text}.${String(part)}`,
    '',
  );

const valueAt = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>(
    (inner, part) => (typeof inner === 'object' && inner !== null ? Reflect.get(inner, part) : undefined),
    value,
  );

const maxShown = 200;

export const answerJson = (value: object): Answered =>
  Reply.content('application/json', JSON.stringify(value));

/** Create a function that finds the route of a request. The first match wins. */
export function createRouter(routes: readonly Route[]): (request: RawRequest) => Found {
  return ({ method, path }) => {
    const asked = method === 'HEAD' ? 'GET' : method;
    const segments = path.replace(prefixes, '').replace(/\/$/, '').split('/').map(decoded);
    let isOther = false;
    for (const route of routes) {
      const variables = matched(route.path, segments);
      if (variables === undefined) continue;
      if (route.method === asked) return { route, variables };
      isOther = true;
    }
    const reason = isOther ? `${method} is not served at this path` : 'This server has no such operation';
    throw mlflowError('ENDPOINT_NOT_FOUND', `${reason}: ${path}`);
  };
}

interface Found {
  route: Route;
  variables: Record<string, string>;
}

/** MLflow's web UI calls a copy of each route with the prefix `ajax-`. It has the same response. */
const prefixes = /^(?:ajax-)?api\/(?:2\.0|3\.0)\//;

function decoded(segment: string): string {
  const value = decodePathVariable(segment);
  if (value === undefined) throw mlflowError('BAD_REQUEST', 'The path is not UTF-8.');
  return value;
}

function matched(pattern: string, segments: readonly string[]): Record<string, string> | undefined {
  const variables: Record<string, string> = {};
  const parts = pattern.split('/');
  for (const [index, part] of parts.entries()) {
    const [, name, greedy] = variable.exec(part) ?? [];
    const segment = segments[index];
    if (segment === undefined) return undefined;
    if (name === undefined) {
      if (part !== segment) return undefined;
    } else if (greedy === '+') {
      variables[name] = segments.slice(index).join('/');
      return variables;
    } else variables[name] = segment;
  }
  return parts.length === segments.length ? variables : undefined;
}

const variable = /^\{(.+?)(\+?)\}$/;
