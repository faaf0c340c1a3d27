import * as z from 'zod';
import { Timestamp, Ulid } from '../../core/formats.ts';
import {
  readWatched,
  type WatchedList,
  type WatchedPage,
  type WatchedPosition,
} from '../lists/watched-list.ts';
import { recordType } from '../table/record.ts';
import type { Key, TableReader, Write } from '../table/table.ts';

const turn = recordType('sweep-turn', () =>
  z.object({
    /** Id of the experiment that has ended, or an id of its own. */
    turn_id: Ulid,
    project_id: Ulid,
    sweep_id: Ulid,
    created_at: Timestamp,
  }),
);
/**
 * A decision that a sweep owes. The transaction that ends one of its experiments, or lets it go on, writes the row. The
 * transaction that takes the decision deletes it. Between decisions a sweep has no row here.
 */
export type SweepTurn = z.infer<typeof turn.schema>;

/** Decisions that sweeps owe. */
export const sweepTurns: WatchedList<'records'> = { table: 'records', partitions: ['SWEEP_TURNS'] };
export const turnKey = (turn_id: string): Key => ({ pk: sweepTurns.partitions[0], sk: turn_id });

export const putTurn = (value: SweepTurn): Write => ({ put: turn.item(turnKey(value.turn_id), value) });
export const removeTurn = (turn_id: string): Write => ({ delete: turnKey(turn_id) });

/** Return the turn that the end of an experiment left. Undefined if the decision was taken. */
export const findTurn = (records: TableReader<'records'>, turn_id: string): Promise<SweepTurn | undefined> =>
  turn.find(records, turnKey(turn_id));

/** Return a page of the decisions that sweeps owe, oldest first. */
export const listTurns = (
  records: TableReader<'records'>,
  position: WatchedPosition | undefined,
): Promise<WatchedPage<SweepTurn>> => readWatched(records, sweepTurns, turn.parse, position, 100);
