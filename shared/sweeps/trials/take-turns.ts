import type { Deadline } from '../../core/deadline.ts';
import { errorName } from '../../core/error-text.ts';
import type { WatchedPosition } from '../../data/lists/watched-list.ts';
import { findTurn, listTurns, type SweepTurn, turnKey } from '../../data/sweeps/sweep-turn.ts';
import { drainList } from '../../purge/drain-list.ts';
import { advanceSweep, type SweepContext } from './advance-sweep.ts';

/** Advance the sweep of an experiment, unless it has already processed the end of the experiment. */
export async function takeTurnAfter(context: SweepContext, experiment_id: string): Promise<void> {
  const turn = await findTurn(context.records, experiment_id);
  if (turn !== undefined) await advanceSweep(context, turn);
}

/** Take a turn in a request. Never throw: the row of the turn stays, and the reconciler takes it. */
export async function takeTurnInRequest(context: SweepContext, turn: SweepTurn): Promise<void> {
  try {
    await advanceSweep(context, turn);
  } catch (error) {
    context.log.warn('sweep-later', { sweep_id: turn.sweep_id, error: errorName(error) });
  }
}

/** Take the turn that a request left by ending an experiment. Never throw. */
export async function takeTurnAfterInRequest(context: SweepContext, experiment_id: string): Promise<void> {
  try {
    await takeTurnAfter(context, experiment_id);
  } catch (error) {
    context.log.warn('sweep-later', { experiment_id, error: errorName(error) });
  }
}

/** Take all turns that are left: of lost events, and of processes that died. */
export async function takeAllTurns(context: SweepContext, hasTime: Deadline): Promise<void> {
  await drainList(
    {
      table: context.records,
      list: (position: WatchedPosition | undefined) => listTurns(context.records, position),
      keyOf: ({ turn_id }: SweepTurn) => turnKey(turn_id),
      work: (turn: SweepTurn) => advanceSweep(context, turn),
    },
    hasTime,
    context.log,
    context.now,
  );
}
