import { noticeWrites } from '../../data/hooks/notice.ts';
import { hasEnded } from '../../data/sweeps/has-ended.ts';
import type { Sweep } from '../../data/sweeps/sweep.ts';
import type { TableReader, Write } from '../../data/table/table.ts';
import { budgetReached } from './sweep-state.ts';

/**
 * Build the write that tells hooks that a change ends a sweep, or that its budget pauses it. Return none if it does
 * neither, or no hook asks for it.
 */
export async function sweepNotices(
  records: TableReader<'records'>,
  before: Sweep,
  next: Sweep,
  now: Date,
): Promise<Write[]> {
  const type = eventOf(before, next);
  if (type === undefined) return [];
  const { project_id, sweep_id, name, status, status_reason: reason, counts } = next;
  const best: unknown = next.best === null ? null : JSON.parse(next.best);
  const facts = { sweep_id, name, status, reason, counts, best };
  return noticeWrites(records, { type, project_id, subject: sweep_id, facts }, now);
}

function eventOf(before: Sweep, next: Sweep): 'sweep.ended' | 'budget.reached' | undefined {
  if (!hasEnded(before) && hasEnded(next)) return 'sweep.ended';
  if (before.status !== 'RUNNING' || next.status !== 'PAUSED') return undefined;
  const { budget }: { budget?: number } = JSON.parse(next.spec);
  // A user may pause it, too.
  return next.status_reason === budgetReached(next, budget) ? 'budget.reached' : undefined;
}
