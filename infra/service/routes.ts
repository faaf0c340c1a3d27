import type { MethodTable } from '../../functions/service/any-method.ts';
import type { AnyEndpoint } from '../../shared/http/definition/exchange.ts';
import { type RequestMethod, servedMethods } from '../../shared/http/definition/request-method.ts';

/**
 * Puts values into an endpoint's path, percent-encoded as clients send them: the slashes of a greedy variable stay.
 * @param values by the published names; those that are missing are empty
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

/** The path of a request, and its variables as API Gateway hands them over: by position, and still encoded. */
export interface EncodedPath {
  path: string;
  parameters: Record<string, string>;
}

const variables = /\{(.+?)(\+?)\}/g;

/** Names of the variables in a path, in their order: `/users/{user_id}/type` has `user_id`. */
export const variablesOf = (path: string): string[] =>
  [...path.matchAll(variables)].map(([, name]) => name ?? '');

/**
 * API Gateway refuses sibling variables of two names (`/users/{user_id}`, `/users/{username}`), though only when it
 * deploys. So a variable is named by its position, and the endpoint wrapper maps it back to its published name.
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

/** A published path as API Gateway routes it. */
export interface Route {
  /** `/users/{p1}/type`: without a trailing slash, variables named by their position. */
  resource: string;
  segments: readonly Segment[];
}

/** One segment of a route: a fixed word, a variable, or a greedy variable that takes all that follows. */
type Segment = { word: string } | { variable: string; greedy: boolean };

/**
 * The methods that are served at each route, in the order of the alphabet: the function of all other methods needs
 * them.
 */
export function methodTable(endpoints: readonly Pick<AnyEndpoint, 'path' | 'method'>[]): MethodTable {
  const table = new Map<string, RequestMethod[]>();
  for (const endpoint of endpoints) {
    const { resource } = routeOf(endpoint);
    table.set(resource, [...(table.get(resource) ?? []), ...servedMethods(endpoint.method)].sort());
  }
  return Object.fromEntries(table);
}
