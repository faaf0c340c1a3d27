import type { MethodTable } from '../../functions/service/any-method.ts';
import type { AnyEndpoint } from '../../shared/http/definition/middleware.ts';
import { type RequestMethod, servedMethods } from '../../shared/http/definition/request-method.ts';

/**
 * Put values into an endpoint's path, percent-encoded as clients send them. Keep the slashes of a greedy variable.
 * @param values by their published names; missing ones become empty
 * @throws URIError for a value with a lone surrogate, which no URL can hold
 */
export function encodedPath(
  { path }: Pick<AnyEndpoint, 'path'>,
  values: Readonly<Record<string, string | undefined>>,
): EncodedPath {
  const encoded: string[] = [];
  const filled = path.replace(variables, (_, name: string, greedy: string) => {
    const value = values[name] ?? '';
    const pieces = greedy === '+' ? value.split('/') : [value];
    const one = pieces.map(encodeURIComponent).join('/');
    encoded.push(one);
    return one;
  });
  const routed = variablesOf(routeOf({ path }).resource);
  return {
    path: filled,
    parameters: Object.fromEntries(routed.map((name, index) => [name, encoded[index] ?? ''])),
  };
}

/** The path of a request and its variables, as API Gateway passes them: named by position, and still encoded. */
export interface EncodedPath {
  path: string;
  parameters: Record<string, string>;
}

const variables = /\{(.+?)(\+?)\}/g;

/** Return the names of a path's variables in order: `/users/{user_id}/type` has `user_id`. */
export const variablesOf = (path: string): string[] =>
  [...path.matchAll(variables)].map(([, name]) => name ?? '');

/**
 * Convert a published path to a route of API Gateway. API Gateway refuses sibling variables with different names
 * (`/users/{user_id}`, `/users/{username}`), but only during a deployment. So name each variable by its position.
 * The endpoint wrapper maps it back to its published name.
 */
export function routeOf({ path }: Pick<AnyEndpoint, 'path'>): Route {
  const segments = path
    .split('/')
    .filter((segment) => segment !== '')
    .map((segment, position): Segment => {
      if (!segment.startsWith('{')) return { word: segment };
      return { variable: `p${position}`, greedy: segment.endsWith('+}') };
    });
  const resource = `/${segments
    .map((segment) =>
      'word' in segment ? segment.word : `{${segment.variable}${segment.greedy ? '+' : ''}}`,
    )
    .join('/')}`;
  return { resource, segments };
}

/** A published path in the form that API Gateway routes. */
export interface Route {
  /** `/users/{p1}/type`: without a trailing slash, variables named by their position. */
  resource: string;
  segments: readonly Segment[];
}

/** One segment of a route: a fixed word, a variable, or a greedy variable that takes the rest of the path. */
type Segment = { word: string } | { variable: string; greedy: boolean };

/** Key in API Gateway's OpenAPI documents of the operation that serves every method without one of its own. */
export const anyMethod = 'x-amazon-apigateway-any-method';

/** Return the methods of each route in alphabetical order. The function for all other methods needs them. */
export function methodTable(endpoints: readonly Pick<AnyEndpoint, 'path' | 'method'>[]): MethodTable {
  const table = new Map<string, RequestMethod[]>();
  for (const endpoint of endpoints) {
    const { resource } = routeOf(endpoint);
    table.set(resource, [...(table.get(resource) ?? []), ...servedMethods(endpoint.method)].sort());
  }
  return Object.fromEntries(table);
}
