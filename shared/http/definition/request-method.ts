/**
 * `ANY` is a proxy: one function for every method of its path, which ends in a greedy variable. It serves an interface
 * that somebody else has defined, so it does its own routing (`input.request`) and is no operation of the document.
 */
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'ANY';

/** The methods that a request may have: whatever is served by GET is served by HEAD, too. */
export type RequestMethod = Exclude<Method, 'ANY'> | 'HEAD';

/** The methods of requests that an endpoint of this method serves. */
export function servedMethods(method: Method): readonly RequestMethod[] {
  if (method === 'ANY') return ['DELETE', 'GET', 'HEAD', 'PATCH', 'POST', 'PUT'];
  return method === 'GET' ? ['GET', 'HEAD'] : [method];
}

/** Whether an endpoint is one operation, as the document describes them, and no proxy of many. */
export const isOperation = ({ method }: { method: Method }): boolean => method !== 'ANY';
