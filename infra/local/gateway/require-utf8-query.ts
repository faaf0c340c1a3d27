import { badRequest } from '../../../shared/core/service-error.ts';
import { notUtf8, parametersNotUtf8 } from '../../../shared/http/body/percent-encoding.ts';

/**
 * Return the query as it was sent. Parameters that are not UTF-8 would reach a function changed.
 * @throws ServiceError 400 with the names of these parameters
 */
export function requireUtf8Query(query: string): string {
  const names = parametersNotUtf8(query);
  if (names.length > 0) throw badRequest(names.map((name) => ({ in: 'query', name, message: notUtf8 })));
  return query;
}
