import type { ChargedToken } from '../../shared/data/accounts/token-scope.ts';
import { readCosts, tokenAccount } from '../../shared/data/jobs/budget.ts';
import type { TableReader } from '../../shared/data/table/table.ts';
import { roundedDollars } from '../../shared/jobs/cost.ts';

/** Add to tokens or trusts what their jobs are charged, in US dollars; null without a budget. */
export function withCharges<T extends object>(
  records: TableReader<'records'>,
  rows: readonly T[],
  chargedOf: (row: T) => ChargedToken | undefined,
): Promise<(T & { charged: number | null })[]> {
  // The reader combines reads of the same moment.
  const charge = async (token: ChargedToken | undefined): Promise<number | null> => {
    if (token === undefined) return null;
    const [owned] = await readCosts(records, [tokenAccount(token)]);
    return roundedDollars(owned?.cost.committed ?? 0);
  };
  return Promise.all(rows.map(async (row) => ({ ...row, charged: await charge(chargedOf(row)) })));
}
