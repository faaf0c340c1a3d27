import { readFileSync } from 'node:fs';

// As a file, because its type would be as large.
const document: {
  paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
} = JSON.parse(readFileSync(new URL('../../functions/service/openapi.json', import.meta.url), 'utf8'));

/** A schema of the document, as far as requests are drawn from it. */
export interface FieldSchema {
  $ref?: string;
  type?: string | readonly string[];
  format?: string;
  maxLength?: number;
  maxItems?: number;
  items?: FieldSchema;
  properties?: Readonly<Record<string, FieldSchema>>;
  additionalProperties?: FieldSchema | boolean;
  anyOf?: readonly FieldSchema[];
}

/** A field of a request. In a body, its path leads through objects and lists. */
export interface RequestField {
  in: 'query' | 'body' | 'header';
  path: readonly (string | number)[];
  schema: FieldSchema;
}

/** A request as it is sent, without its path. */
export interface Request {
  query: Readonly<Record<string, unknown>>;
  headers: Readonly<Record<string, string>>;
  body: unknown;
}

export interface DocumentedOperation {
  name: string;
  method: string;
  /** With variables in braces. */
  path: string;
  /** Of the examples of the document. */
  example: Request;
  fields: readonly RequestField[];
}

interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  schema: FieldSchema;
  example?: unknown;
}

interface Operation {
  operationId: string;
  parameters?: readonly (Parameter | { $ref: string })[];
  requestBody?: { content: Readonly<Record<string, { schema: FieldSchema; example?: unknown }>> };
}

/** All operations of the committed document, with the fields of their requests. */
export function documentedOperations(): DocumentedOperation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([method]) => ['get', 'put', 'post', 'patch', 'delete'].includes(method))
      .map(([method, operation]) => documented(method.toUpperCase(), path, operation as Operation)),
  );
}

function documented(method: string, path: string, operation: Operation): DocumentedOperation {
  const parameters = (operation.parameters ?? []).map((one) =>
    '$ref' in one ? resolved<Parameter>(one.$ref) : one,
  );
  const query = parameters.filter((one) => one.in === 'query');
  const json = operation.requestBody?.content['application/json'];
  const isNeeded = (one: Parameter) => one.required === true && one.example !== undefined;
  return {
    name: operation.operationId,
    method,
    path,
    example: {
      query: Object.fromEntries(query.filter(isNeeded).map((one) => [one.name, one.example])),
      headers: {},
      body: json?.example,
    },
    fields: [
      ...parameters.flatMap(({ in: place, name, schema }): RequestField[] =>
        place === 'query' || place === 'header' ? [{ in: place, path: [name], schema }] : [],
      ),
      ...(json === undefined
        ? []
        : leavesOf(json.schema, []).map((leaf) => ({ in: 'body' as const, ...leaf }))),
    ],
  };
}

/** The request with another value of one field. */
export function withField(request: Request, { in: place, path }: RequestField, value: unknown): Request {
  const name = String(path[0]);
  if (place === 'query') return { ...request, query: { ...request.query, [name]: value } };
  if (place === 'header') return { ...request, headers: { ...request.headers, [name]: String(value) } };
  return { ...request, body: replaced(request.body, path, value) };
}

function replaced(body: unknown, [first, ...rest]: RequestField['path'], value: unknown): unknown {
  if (first === undefined) return value;
  if (typeof first === 'number') {
    const list = Array.isArray(body) ? body : [];
    return [replaced(list[0], rest, value), ...list.slice(1)];
  }
  const object = typeof body === 'object' && body !== null && !Array.isArray(body) ? body : {};
  const inner = (object as Readonly<Record<string, unknown>>)[first];
  return { ...object, [first]: replaced(inner, rest, value) };
}

/** The fields below a schema, each in the first element of its lists; lists and open objects are fields, too. */
function leavesOf(
  given: FieldSchema,
  path: RequestField['path'],
): { path: RequestField['path']; schema: FieldSchema }[] {
  if (path.length > maxDepth) return [];
  const schema = given.$ref === undefined ? given : resolved<FieldSchema>(given.$ref);
  const { anyOf, properties, items, additionalProperties } = schema;
  if (anyOf !== undefined) return anyOf.flatMap((one) => leavesOf(one, path));
  const own = path.length === 0 ? [] : [{ path, schema }];
  const below = [
    ...Object.entries(properties ?? {}).flatMap(([name, inner]) => leavesOf(inner, [...path, name])),
    ...(items === undefined ? [] : leavesOf(items, [...path, 0])),
    ...(typeof additionalProperties === 'object' ? leavesOf(additionalProperties, [...path, 'a']) : []),
  ];
  return [...own, ...below];
}

const maxDepth = 6;

function resolved<T>(ref: string): T {
  const names = ref.replace('#/', '').split('/');
  return names.reduce<unknown>((inner, name) => (inner as Record<string, unknown>)[name], document) as T;
}
