import type { MethodTable } from '../functions/service/any-method.ts';
import type { Method } from '../shared/endpoint/definition.ts';
import type { AnyEndpoint } from '../shared/endpoint/exchange.ts';

/** One segment of a route: a fixed word, a variable, or a greedy variable that takes all that follows. */
type Segment = { word: string } | { variable: string; greedy: boolean };

/** A published path as API Gateway routes it. */
export interface Route {
  /** `/users/{p1}/type`: without a trailing slash, variables named by their position. */
  resource: string;
  segments: readonly Segment[];
}

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

/** The methods that are served at each route, in the order of the alphabet: what answers all others needs to know. */
export function methodTable(endpoints: readonly Pick<AnyEndpoint, 'path' | 'method'>[]): MethodTable {
  const table = new Map<string, Method[]>();
  for (const endpoint of endpoints) {
    const { resource } = routeOf(endpoint);
    table.set(resource, [...(table.get(resource) ?? []), endpoint.method].sort());
  }
  return Object.fromEntries(table);
}
