import { noticeWrites } from '../../data/hooks/notice.ts';
import { hasEnded, type Sweep } from '../../data/sweeps/sweep.ts';
import type { TableReader, Write } from '../../data/table/table.ts';

/** Build the write that tells hooks that a change ends a sweep. Return none if it does not, or no hook asks for it. */
export async function sweepNotices(
  records: TableReader<'records'>,
  before: Sweep,
  next: Sweep,
  now: Date,
): Promise<Write[]> {
  if (hasEnded(before) || !hasEnded(next)) return [];
  const { project_id, sweep_id, name, status, status_reason: reason, counts } = next;
  const best: unknown = next.best === null ? null : JSON.parse(next.best);
  const facts = { sweep_id, name, status, reason, counts, best };
  return noticeWrites(records, { type: 'sweep.ended', project_id, subject: sweep_id, facts }, now);
}
