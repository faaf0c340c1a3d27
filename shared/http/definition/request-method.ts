/**
 * `ANY` is a proxy: one function for every method of a path that ends in a greedy variable. It serves an external
 * interface (MLflow's), does its own routing (`input.request`) and is not in the OpenAPI document.
 */
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'ANY';

/** The methods of requests. Every path that serves GET also serves HEAD. */
export type RequestMethod = Exclude<Method, 'ANY'> | 'HEAD';

/** The request methods that an endpoint serves. */
export function servedMethods(method: Method): readonly RequestMethod[] {
  if (method === 'ANY') return ['DELETE', 'GET', 'HEAD', 'PATCH', 'POST', 'PUT'];
  return method === 'GET' ? ['GET', 'HEAD'] : [method];
}

/** Whether an endpoint is one operation of the OpenAPI document, not a proxy. */
export const isOperation = ({ method }: { method: Method }): boolean => method !== 'ANY';
