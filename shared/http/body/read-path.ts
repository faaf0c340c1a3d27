import type { ParameterFault } from '../../core/service-error.ts';
import type { Exchange } from '../definition/exchange.ts';
import type { RawFields } from './parse-body.ts';
import type { Values } from './parse-part.ts';
import { decodePathVariable, notUtf8 } from './percent-encoding.ts';

const variable = /^\{(.+?)\+?\}$/;

/**
 * Path parameters under their published names, decoded. API Gateway demands one name for sibling variables
 * (`/users/{user_id}` and `/users/{username}`), so routes name them by position: what matters is where they stand
 * in the route.
 */
export function readPath({ endpoint, event }: Exchange): RawFields {
  const published = endpoint.path.split('/');
  const routed = event.resource.split('/');
  const values: Values = {};
  const faults: ParameterFault[] = [];
  for (const [position, segment] of published.entries()) {
    const name = variable.exec(segment)?.[1];
    const routedName = variable.exec(routed[position] ?? '')?.[1];
    if (name === undefined || routedName === undefined) continue;
    const sent = event.pathParameters?.[routedName];
    if (sent === undefined) continue;
    const value = decodePathVariable(sent);
    if (value === undefined) faults.push({ in: 'path', name, message: notUtf8 });
    values[name] = value ?? sent;
  }
  return { values, faults };
}
