import * as z from 'zod';
import { Timestamp } from '../../core/formats.ts';
import { within } from '../../core/needs.ts';
import type { ChargedToken } from '../accounts/token-scope.ts';
import { readRecords } from '../table/needs.ts';
import { recordType } from '../table/record.ts';
import type { Item, Key, TableReader, TableWriter, Write } from '../table/table.ts';
import { WriteLabel } from '../table/write-label.ts';

const budget = recordType('budget', () =>
  z.object({
    /** US dollars that the jobs of one month may cost. */
    amount: z.number(),
    updated_at: Timestamp,
    version: z.number().int(),
  }),
);
/** Budget of a project or a user for each month (UTC). */
export type Budget = z.infer<typeof budget.schema>;

const monthCost = recordType('month-cost', () =>
  z.object({
    /** US dollars: what ended jobs have cost, and what running and waiting ones may cost. */
    committed: z.number().default(0),
    /** US dollars that jobs have cost, as far as they reported. */
    spent: z.number().default(0),
    /** Share of the budget that was noticed in this month. */
    notice: BudgetNotice.optional(),
  }),
);
/** What the jobs that were created in a month cost. */
export type MonthCost = z.infer<typeof monthCost.schema>;

/** `warning` at 90 % of a budget, `reached` at all of it. */
export const BudgetNotice = z.enum(['warning', 'reached']);
export type BudgetNotice = z.infer<typeof BudgetNotice>;

/** Partition of the budget of a project or user, by its id. No container may write it. */
export const budgetPartition = (owner_id: string): string => `BUDGETS#${owner_id}`;
/** Partition of what the months of a project or user cost. */
export const monthsPartition = (owner_id: string): string => `MONTH_COSTS#${owner_id}`;
/** Read budgets. Containers must not change them. */
export const readBudgets = /* @__PURE__ */ within(readRecords, { partitions: ['BUDGETS#*'] });
/** Key pattern of the months, for the policies of roles. */
export const monthPatterns = ['MONTH_COSTS#*'] as const;

/** What jobs are charged to: a month of a project or user, or the whole life of a token. */
export interface Account {
  owner_id: string;
  /** Month, such as `2026-11`; of a token its id. */
  period: string;
  /** US dollars of the budget of a token, which never changes. Absent for a budget that is stored by itself. */
  amount?: number;
}

/** It lies with the months of its user, so it goes with the user's account. */
export const tokenAccount = ({ user_id, token_id, budget }: ChargedToken): Account => ({
  owner_id: user_id,
  period: `TOKEN#${token_id}`,
  amount: budget,
});

const budgetKey = (owner_id: string): Key => ({ pk: budgetPartition(owner_id), sk: 'BUDGET' });
const periodKey = (owner_id: string, period: string): Key => ({ pk: monthsPartition(owner_id), sk: period });

/** Return the month of a time, such as `2026-11`. */
export const monthOf = (time: string): string => time.slice(0, 7);

export const findBudget = (records: TableReader<'records'>, owner_id: string): Promise<Budget | undefined> =>
  budget.find(records, budgetKey(owner_id));

/** Budget of an account, and what its jobs have cost. */
export interface OwnedCost {
  owner_id: string;
  period: string;
  /** Whether it is that of a token. */
  isOfToken: boolean;
  amount: number | null;
  cost: MonthCost;
}

/** Return the budgets of accounts, with what jobs cost each of them. */
export async function readCosts(
  records: TableReader<'records'>,
  accounts: readonly Account[],
): Promise<OwnedCost[]> {
  const limited = accounts.filter(({ amount }) => amount === undefined);
  const items = await records.batchGet([
    ...accounts.map(({ owner_id, period }) => periodKey(owner_id, period)),
    ...limited.map(({ owner_id }) => budgetKey(owner_id)),
  ]);
  const limits = items.slice(accounts.length);
  return accounts.map((account, index) => {
    const { owner_id, period, amount } = account;
    const limit = limits[limited.indexOf(account)];
    return {
      owner_id,
      period,
      isOfToken: amount !== undefined,
      amount: amount ?? (limit === undefined ? null : budget.parse(limit).amount),
      cost: parseMonth(items[index]),
    };
  });
}

const parseMonth = (item: Item | undefined): MonthCost =>
  item === undefined ? { committed: 0, spent: 0 } : monthCost.parse(item);

/** Store a budget, or remove it if `amount` is null. Notices of the present month begin again. */
export async function storeBudget(
  records: TableWriter<'records'>,
  owner_id: string,
  amount: number | null,
  now: Date,
): Promise<void> {
  const present = await findBudget(records, owner_id);
  const version = (present?.version ?? 0) + 1;
  const value = { amount: amount ?? 0, updated_at: now.toISOString(), version };
  await records.write(
    amount === null ? { delete: budgetKey(owner_id) } : { put: budget.item(budgetKey(owner_id), value) },
    {
      update: periodKey(owner_id, monthOf(now.toISOString())),
      change: { set: { record_type: monthCost.kind, schema_version: 0 }, remove: ['notice'] },
    },
  );
}

/** Label of writes that fail if a budget leaves too little. */
export const budgetLeft = new WriteLabel('budget of the month');

/**
 * Build the write that changes what an account is charged.
 * @param most US dollars that may be committed after it; undefined without a budget
 */
export function changeCost(
  { owner_id, period }: Pick<Account, 'owner_id' | 'period'>,
  { committed, spent, notice }: { committed: number; spent: number; notice?: BudgetNotice | undefined },
  most?: number,
): Write {
  return budgetLeft.on({
    update: periodKey(owner_id, period),
    change: {
      add: { committed, spent },
      set: { record_type: monthCost.kind, schema_version: 0, ...(notice !== undefined && { notice }) },
    },
    ...(most !== undefined && {
      if: { any: [{ absent: ['committed'] }, { atMost: { committed: most - committed } }] },
    }),
  });
}
