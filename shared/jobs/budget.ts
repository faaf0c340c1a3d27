import { badRequest, ServiceError } from '../core/service-error.ts';
import type { TokenOrigin } from '../data/accounts/ci-run.ts';
import {
  type Account,
  type BudgetNotice,
  changeCost,
  monthOf,
  type OwnedCost,
  readCosts,
  tokenAccount,
} from '../data/jobs/budget.ts';
import type { TableReader, Write } from '../data/table/table.ts';
import { actualCost, minuteCost, noPriceMessage, roundedDollars } from './cost.ts';
import { isCompression, type JobRecord } from './job-record.ts';

/*
 * A job takes what it may cost at most out of the budgets of its project, its user and its token when it is recorded: it
 * is charged. Its heartbeats say how much of that is spent, and its end gives the rest back.
 */

/**
 * Decide what to notice: `warning` from 90 % of a budget on, `reached` from all of it on, each once.
 * @param spent US dollars
 * @param before what was noticed already
 * @returns undefined if there is nothing new
 */
export function crossedBudget(
  spent: number,
  amount: number | null,
  before: BudgetNotice | undefined,
): BudgetNotice | undefined {
  if (amount === null || before === 'reached') return undefined;
  if (spent >= amount) return 'reached';
  return spent >= warnedShare * amount && before === undefined ? 'warning' : undefined;
}

const warnedShare = 0.9;

/** Return what a job is charged to: the months of its project, if it has one, and user, and the token that began it. */
export const accountsOf = (record: JobRecord): Account[] =>
  accountsAt(record.created_at, isCompression(record) ? { ...record, project_id: undefined } : record);

/** Return what a job that begins at a time would be charged to. @param project_id undefined without a project */
function accountsAt(at: string, { user_id, project_id, charged_token: token }: Payers): Account[] {
  const period = monthOf(at);
  const owners = project_id === undefined ? [user_id] : [project_id, user_id];
  return [
    ...owners.map((owner_id) => ({ owner_id, period })),
    ...(token === undefined ? [] : [tokenAccount(token)]),
  ];
}

/** Return what a job may cost at most, in US dollars. Return null if compute has no price. */
export const highestCost = ({
  cost_estimate,
  budget,
}: Pick<JobRecord, 'cost_estimate' | 'budget'>): number | null =>
  cost_estimate === null ? null : Math.min(cost_estimate, budget ?? cost_estimate);

/**
 * Build the writes that charge a new job, or one whose own budget changes, to its accounts.
 * @param more US dollars
 * @throws ServiceError `conflict` with what is left
 */
export async function chargeBudgets(
  records: TableReader<'records'>,
  record: JobRecord,
  more: number,
): Promise<Write[]> {
  const costs = await costsWithRoom(records, accountsOf(record), record, more);
  return costs.map(({ amount, ...account }) =>
    changeCost(account, { committed: more, spent: 0 }, more > 0 ? (amount ?? undefined) : undefined),
  );
}

/** Refuse a job that begins now and for which a budget has no room. @throws ServiceError `conflict` with what is left */
export async function requireBudgets(
  records: TableReader<'records'>,
  payers: Payers,
  more: number,
  now: Date,
): Promise<void> {
  await costsWithRoom(records, accountsAt(now.toISOString(), payers), payers, more);
}

async function costsWithRoom(
  records: TableReader<'records'>,
  accounts: readonly Account[],
  { user_id }: Pick<Payers, 'user_id'>,
  more: number,
): Promise<OwnedCost[]> {
  const costs = await readCosts(records, accounts);
  const short = costs.find(
    ({ amount, cost }) => more > 0 && amount !== null && roundedDollars(cost.committed + more) > amount,
  );
  if (short !== undefined) throw budgetShort(user_id, short, more);
  return costs;
}

/** Whose budgets pay for a job. */
interface Payers extends TokenOrigin {
  user_id: string;
  project_id?: string | undefined;
}

function budgetShort(
  user_id: string,
  { owner_id, period, isOfToken, amount, cost }: OwnedCost,
  more: number,
): ServiceError {
  const ofMonth =
    owner_id === user_id ? `Your budget for ${period}` : `The budget of the project for ${period}`;
  const whose = isOfToken ? 'The budget of your token' : ofMonth;
  const left = roundedDollars(Math.max(0, (amount ?? 0) - cost.committed));
  return new ServiceError(
    'conflict',
    `${whose} is US$ ${amount}. US$ ${left} is left, and this may cost US$ ${more}. A shorter timeout or a budget of its own lowers that; or ${isOfToken ? 'take a token with a larger one' : 'raise the budget'}.`,
    { code: budgetShortCode },
  );
}

/**
 * Refuse a job's own budget that cannot be kept: every attempt is paid for a minute, and is charged no less.
 * @throws ServiceError 400 that names the least
 */
export function requireBudget(
  budget: number | null,
  { cost_estimate, timeout }: Pick<JobRecord, 'cost_estimate' | 'timeout'>,
  place: 'query' | 'body',
  name: string,
): void {
  if (budget === null) return;
  const message = minuteFault(budget, { cost_estimate, timeout });
  if (message !== undefined) throw badRequest([{ in: place, name, message }]);
}

/** Return the fault of the budget of one job. @returns undefined if it can be kept */
export const minuteFault = (
  budget: number,
  { cost_estimate, timeout }: Pick<JobRecord, 'cost_estimate' | 'timeout'>,
): string | undefined =>
  budgetFault(budget, cost_estimate === null ? null : minuteCost({ cost_estimate, timeout }), ofMinute);

const ofMinute = 'what a minute of this size costs: every attempt is paid for at least a minute';

/**
 * Return the fault of the budget of a job or a sweep.
 * @param least US dollars; null where compute has no price
 * @param what what the least is, for the message
 * @returns undefined if the budget can be kept
 */
export function budgetFault(budget: number, least: number | null, what: string): string | undefined {
  if (least === null) return noPriceMessage;
  return budget < least ? `must be at least ${least}, ${what}` : undefined;
}

/** What a sweep's budget must have room for, which reserves each experiment up to its timeout. */
export const ofOneRun = 'what one experiment costs that reaches its timeout; a shorter timeout costs less';

/** Code of the refusal of a job that a budget has no room for, or that has no price. */
export const budgetShortCode = 'budget_short';

/** Return what a job has cost until now, in US dollars: all its attempts. Return null if compute has no price. */
export const costSoFar = (record: JobRecord, now: Date): number | null =>
  actualCost({ ...record, stopped_at: now.toISOString() });

/** Build the writes that give back what an ended job was charged and did not cost. */
export function settleCharges(records: readonly JobRecord[], now: Date): Write[] {
  const changes = new Map<string, { account: Account; committed: number; spent: number }>();
  for (const record of records) {
    if (record.charged === null) continue;
    const cost = costSoFar(record, now) ?? 0;
    for (const account of accountsOf(record)) {
      const key = `${account.owner_id} ${account.period}`;
      const before = changes.get(key) ?? { committed: 0, spent: 0 };
      const committed = roundedDollars(before.committed + cost - record.charged);
      const spent = roundedDollars(before.spent + cost - record.spent);
      changes.set(key, { account, committed, spent });
    }
  }
  return [...changes.values()].map(({ account, ...change }) => changeCost(account, change));
}

/** Return the attributes of an ended job. From then on `charged` equals its actual cost. */
export function settledFields(record: JobRecord, now: Date): { charged?: number; spent?: number } {
  if (record.charged === null) return {};
  const cost = costSoFar(record, now) ?? 0;
  return { charged: cost, spent: cost };
}
