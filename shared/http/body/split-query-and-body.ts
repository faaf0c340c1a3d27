import type * as z from 'zod';
import type { ParameterFault } from '../../core/service-error.ts';
import type { Given, Values } from './parse-part.ts';

interface Split {
  queryOrBody: Given;
  /** What is left in the query and in the body. */
  query: Values;
  body: Values;
  /** Parameters that were given in both. */
  faults: ParameterFault[];
}

function partition(values: Values, isTaken: (name: string) => boolean): { taken: Values; left: Values } {
  const entries = Object.entries(values);
  return {
    taken: Object.fromEntries(entries.filter(([name]) => isTaken(name))),
    left: Object.fromEntries(entries.filter(([name]) => !isTaken(name))),
  };
}

/**
 * Takes the parameters of `schema`, each of which may stand in the query or in the body, out of what was sent there.
 * One that is missing is looked for where the caller has put the others: in the body where there is any, else in the
 * query.
 */
export function splitQueryAndBody(schema: z.ZodObject | undefined, query: Values, body: Values): Split {
  const isTaken = (name: string): boolean => schema !== undefined && Object.hasOwn(schema.shape, name);
  const [inQuery, inBody] = [partition(query, isTaken), partition(body, isTaken)];
  const twice = Object.keys(inQuery.taken).filter((name) => Object.hasOwn(inBody.taken, name));
  const otherwise = Object.keys(body).length > 0 ? 'body' : 'query';
  return {
    queryOrBody: {
      values: { ...inQuery.taken, ...inBody.taken },
      placeOf: (name) => (Object.hasOwn(inQuery.taken, name) ? 'query' : otherwise),
    },
    query: inQuery.left,
    body: inBody.left,
    faults: twice.map((name) => ({
      in: 'query',
      name,
      message: 'is given in the query and in the body; give it once',
    })),
  };
}
