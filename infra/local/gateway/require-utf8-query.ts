import { badRequest } from '../../../shared/core/service-error.ts';
import { notUtf8, parametersNotUtf8 } from '../../../shared/http/percent-encoding.ts';

/**
 * A query as it was sent. Throws a 400 problem that names the parameters that are not UTF-8: they would reach a function
 * as something else than was sent.
 */
export function requireUtf8Query(query: string): string {
  const names = parametersNotUtf8(query);
  if (names.length > 0) throw badRequest(names.map((name) => ({ in: 'query', name, message: notUtf8 })));
  return query;
}
