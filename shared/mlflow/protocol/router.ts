import { decodePathVariable } from '../../http/body/percent-encoding.ts';
import type { RawRequest } from '../../http/definition/endpoint-input.ts';
import { mlflowError } from './mlflow-error.ts';
import type { Route } from './route.ts';

interface Found {
  route: Route;
  variables: Record<string, string>;
}

/** The browser's copy of each route has the same answer. */
const prefixes = /^(?:ajax-)?api\/(?:2\.0|3\.0)\//;

const variable = /^\{(.+?)(\+?)\}$/;

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

function decoded(segment: string): string {
  const value = decodePathVariable(segment);
  if (value === undefined) throw mlflowError('BAD_REQUEST', 'The path is not UTF-8.');
  return value;
}

/** Finds the route of a request. Of several that match the first is taken. */
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
