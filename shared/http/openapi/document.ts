import type { AnyEndpoint } from '../definition/middleware.ts';
import { isOperation } from '../definition/request-method.ts';
import type { Samples } from './example.ts';
import type { JsonSchema, SchemaComponents } from './json-schema.ts';
import { type Operation, operationOf } from './operation.ts';
import { plainErrorSchema, problemResponses, problemSchema } from './problems.ts';

/** A group of operations, by the prefixes of their paths. */
export interface TagRule {
  name: string;
  description: string;
  /** `/projects/{project_id}/train` covers that path and those below it; `/` covers only itself. */
  paths: readonly string[];
}

interface OpenApiOptions {
  title: string;
  version: string;
  description: string;
  /** Groups of operations in display order. */
  tags: readonly TagRule[];
  /** Sample values for examples, by the name of the field or parameter. */
  samples: Samples;
}

export interface OpenApiDocument {
  openapi: '3.1.1';
  info: { title: string; version: string; description: string };
  servers: readonly { url: string; description: string }[];
  tags: readonly { name: string; description?: string }[];
  paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  components: JsonSchema;
}

const bearer = {
  type: 'http',
  scheme: 'bearer',
  description: 'The `access_token` that POST /auth/token returns.',
};

/** The OpenAPI 3.1 document of these endpoints; of a proxy its `operations`. The order of the endpoints does not matter. */
export function openApiDocument(
  endpoints: readonly AnyEndpoint[],
  { title, version, description, tags: rules, samples }: OpenApiOptions,
): OpenApiDocument {
  const components: SchemaComponents = new Map([
    ['Problem', problemSchema],
    ['PlainError', plainErrorSchema],
  ]);
  const paths: Record<string, Record<string, Operation>> = {};
  const used = new Set<string>();
  for (const endpoint of ordered(endpoints.flatMap(operationsOf), rules)) {
    const tag = tagOf(endpoint, rules);
    used.add(tag);
    const path = endpoint.path.replace('+}', '}');
    paths[path] ??= {};
    paths[path][endpoint.method.toLowerCase()] = operationOf(endpoint, tag, { components, samples });
  }
  const described = new Map(rules.map((rule) => [rule.name, rule.description]));
  return {
    openapi: '3.1.1',
    info: { title, version, description },
    servers: [{ url: '.', description: 'Address from which this document was read' }],
    tags: [...used].map((name) => {
      const about = described.get(name);
      return about === undefined ? { name } : { name, description: about };
    }),
    paths,
    components: {
      schemas: Object.fromEntries([...components].sort(([one], [other]) => (one < other ? -1 : 1))),
      responses: problemResponses(),
      headers,
      securitySchemes: { bearer },
    },
  };
}

/** A proxy stands for its operations, if it states any. It shapes their errors. */
const operationsOf = (endpoint: AnyEndpoint): readonly AnyEndpoint[] => {
  const { errorBody, operations = [] } = endpoint;
  if (isOperation(endpoint)) return [endpoint];
  return operations.map((operation) => ({ ...operation, ...(errorBody !== undefined && { errorBody }) }));
};

const methodOrder = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** Sort endpoints by group in the order of the rules, then by path and method. */
function ordered(endpoints: readonly AnyEndpoint[], rules: readonly TagRule[]): AnyEndpoint[] {
  const names = rules.map(({ name }) => name);
  const rank = (endpoint: AnyEndpoint) =>
    names.indexOf(tagOf(endpoint, rules)) + 1 || Number.MAX_SAFE_INTEGER;
  return endpoints.toSorted(
    (a, b) =>
      rank(a) - rank(b) ||
      (a.path < b.path ? -1 : a.path > b.path ? 1 : 0) ||
      methodOrder.indexOf(a.method) - methodOrder.indexOf(b.method),
  );
}

/** The tag of the rule with the longest matching path; the first segment of the path if no rule matches. */
function tagOf({ path }: Pick<AnyEndpoint, 'path'>, rules: readonly TagRule[]): string {
  let found = { length: 0, name: path.split('/')[1] ?? '' };
  for (const { name, paths } of rules) {
    for (const beginning of paths) {
      if (beginning.length > found.length && below(path, beginning))
        found = { length: beginning.length, name };
    }
  }
  return found.name;
}

const below = (path: string, beginning: string): boolean =>
  path === beginning ||
  (beginning !== '/' && path.startsWith(beginning.endsWith('/') ? beginning : `${beginning}/`));

const text = { type: 'string' };

const headers: JsonSchema = {
  'X-Request-Id': { description: 'ID of the request, for searching the log.', schema: text },
  ETag: { description: 'Version and hash of the response.', schema: text },
  Link: {
    description: 'Link to the next page, `rel="next"`. Absent on the last page.',
    schema: text,
    example: '<?cursor=YWZ0ZXI6MDFq&limit=100>; rel="next"',
  },
  'Idempotency-Replayed': {
    description: 'Present if an earlier request with the same Idempotency-Key has already taken effect.',
    schema: { type: 'string', enum: ['true'] },
  },
  'X-Unreadable-Records': {
    description:
      'Number of records left out, because a newer version of the service wrote them or they are damaged. Absent if there are none. The log names them.',
    schema: { type: 'integer', minimum: 1 },
  },
  Location: {
    description: 'Location of the resource; a presigned URL for files.',
    schema: { type: 'string', format: 'uri-reference' },
  },
  Allow: { description: 'Methods that the path supports.', schema: text, example: 'GET, POST' },
  'Retry-After': {
    description: 'Seconds to wait before a retry.',
    schema: { type: 'integer', minimum: 0 },
  },
  'WWW-Authenticate': { description: 'Authentication scheme.', schema: text, example: 'Bearer' },
};
