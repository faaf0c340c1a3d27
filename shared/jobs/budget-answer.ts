import * as z from 'zod';
import { monthOf, readCosts } from '../data/jobs/budget.ts';
import type { TableReader } from '../data/table/table.ts';
import { decimalAbove } from '../http/definition/parameters.ts';
import { costSoFar } from './budget.ts';
import { roundedDollars } from './cost.ts';
import type { JobRecord } from './job-record.ts';

/** Body of the requests that set a budget. */
export const BudgetRequest = z.strictObject({
  amount: decimalAbove(0, 1_000_000).nullable().describe('US$, such as `5`; null removes the budget.'),
});

/** Query parameter of the requests that begin a training. */
export const budgetParameter = {
  budget: decimalAbove(0, 1_000_000)
    .optional()
    .describe(
      'US$ that the training may cost, such as `5`; at least what a minute costs. Then it gets SIGTERM, saves its checkpoints, and ends as CANCELLED; a rerun goes on from there. Default: up to its timeout.',
    ),
};

/** A budget in the responses, with what is spent of it. */
export const BudgetAnswer = z
  .object({
    amount: z.number().nullable().describe('US$; null without a budget.'),
    month: z
      .string()
      .nullable()
      .describe('Month of the budget (UTC), such as `2026-11`; null for the budget of one job.'),
    spent: z.number().describe('US$ that jobs have cost, as far as they reported.'),
    reserved: z
      .number()
      .describe('US$ that running and waiting jobs may still cost, up to their timeouts or own budgets.'),
    left: z.number().nullable().describe('US$ for further jobs; null without a budget.'),
  })
  .meta({ id: 'Budget' });

/** Build the response for the budget of a project or user in the present month. */
export async function answerBudget(
  records: TableReader<'records'>,
  owner_id: string,
  now: Date,
): Promise<z.input<typeof BudgetAnswer>> {
  const month = monthOf(now.toISOString());
  const [owned] = await readCosts(records, [{ owner_id, period: month }]);
  const { amount = null, cost: { committed, spent } = { committed: 0, spent: 0 } } = owned ?? {};
  return {
    amount,
    month,
    spent: roundedDollars(spent),
    reserved: roundedDollars(Math.max(0, committed - spent)),
    left: amount === null ? null : roundedDollars(Math.max(0, amount - committed)),
  };
}

/** Build the response for the budget of one job. */
export function answerJobBudget(record: JobRecord, now: Date): z.input<typeof BudgetAnswer> {
  const { budget, charged } = record;
  const spent = costSoFar(record, record.stopped_at === null ? now : new Date(record.stopped_at)) ?? 0;
  return {
    amount: budget,
    month: null,
    spent,
    reserved: record.stopped_at === null ? roundedDollars(Math.max(0, (charged ?? 0) - spent)) : 0,
    left: budget === null ? null : roundedDollars(Math.max(0, budget - spent)),
  };
}
