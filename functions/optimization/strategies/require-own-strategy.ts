import { ServiceError } from '../../../shared/core/service-error.ts';
import type { OptimizationKind } from '../../../shared/data/jobs/job.ts';
import { requireStrategy, type Strategy } from '../../../shared/data/models/strategy.ts';
import type { TableReader } from '../../../shared/data/table/table.ts';
import type { Caller } from '../../../shared/http/definition/endpoint-context.ts';

/** The strategy, which the caller may change. Throws 404 and 403 problems. */
export async function requireOwnStrategy(
  records: TableReader<'records'>,
  caller: Caller,
  kind: OptimizationKind,
  strategy_id: string,
): Promise<Strategy> {
  const strategy = await requireStrategy(records, kind, strategy_id);
  requireOwn(strategy, caller);
  return strategy;
}

/** Refuses callers who may not change a strategy. */
export function requireOwn({ user_id }: Pick<Strategy, 'user_id'>, caller: Caller): void {
  if (caller.account_type === 'admin' || user_id === caller.user_id) return;
  throw new ServiceError(
    'forbidden',
    'This strategy belongs to somebody else; only its owner and admins may change it.',
  );
}
