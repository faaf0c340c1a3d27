import * as z from 'zod';
import { controlBatch } from '../../../shared/aws/needs.ts';
import { Ulid } from '../../../shared/core/formats.ts';
import { readVariablesKey } from '../../../shared/data/projects/variable.ts';
import { replaceSweep, requireSweep, type Sweep } from '../../../shared/data/sweeps/sweep.ts';
import { putTurn } from '../../../shared/data/sweeps/sweep-turn.ts';
import { writeRecords } from '../../../shared/data/table/needs.ts';
import { retryOnConflict } from '../../../shared/data/table/retry-on-conflict.ts';
import type { TableReader } from '../../../shared/data/table/table.ts';
import { projectId } from '../../../shared/http/definition/parameters.ts';
import { Reply } from '../../../shared/http/definition/reply.ts';
import type { SweepSpec } from '../../../shared/sweeps/spec.ts';
import { type SweepContext, specOf } from '../../../shared/sweeps/trials/advance-sweep.ts';
import { showSweep } from '../../../shared/sweeps/trials/show-sweep.ts';
import { sweepNotices } from '../../../shared/sweeps/trials/sweep-notices.ts';
import { takeTurnInRequest } from '../../../shared/sweeps/trials/take-turns.ts';

/** Path parameters of all operations on one sweep. */
export const sweepPath = z.strictObject({
  project_id: projectId,
  sweep_id: Ulid.describe('Id of the sweep, from the response that began it.'),
});
type SweepPath = z.output<typeof sweepPath>;

/** Services of operations after which a sweep decides. */
export const decidingNeeds = { records: writeRecords, batch: controlBatch, keys: readVariablesKey };

/** Answer with the current state of a sweep. */
export async function answerSweep(
  records: TableReader<'records'>,
  { project_id, sweep_id }: SweepPath,
): Promise<Reply<ReturnType<typeof showSweep>>> {
  const sweep = await requireSweep(records, project_id, sweep_id);
  return Reply.json(showSweep(sweep), { version: sweep.version });
}

/**
 * Change a sweep, then let it decide. The change and the turn are one transaction, so a crash in between leaves the
 * decision to the reconciler.
 * @param change returns the changed sweep, or undefined if it already is so
 * @throws ServiceError `conflict`, `not-found`, `precondition-failed`
 */
export async function changeSweep(
  context: SweepContext,
  { project_id, sweep_id }: SweepPath,
  change: (sweep: Sweep, spec: SweepSpec) => Sweep | undefined | Promise<Sweep | undefined>,
): Promise<void> {
  const { records, newId, now } = context;
  const turn = { turn_id: newId(), project_id, sweep_id, created_at: now().toISOString() };
  const changed = await retryOnConflict(async () => {
    const sweep = await requireSweep(records, project_id, sweep_id);
    const next = await change(sweep, specOf(sweep));
    if (next === undefined) return false;
    const told = await sweepNotices(records, sweep, next, now());
    await records.write(replaceSweep(sweep, next, now()), putTurn(turn), ...told);
    return true;
  });
  if (changed) await takeTurnInRequest(context, turn);
}
