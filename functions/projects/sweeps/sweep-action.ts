import { ServiceError } from '../../../shared/core/service-error.ts';
import { hasEnded } from '../../../shared/data/sweeps/has-ended.ts';
import type { Sweep } from '../../../shared/data/sweeps/sweep.ts';
import { allRuns, lastTry } from '../../../shared/data/sweeps/sweep-run.ts';
import type { TableReader } from '../../../shared/data/table/table.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import type { Caller } from '../../../shared/http/definition/endpoint-context.ts';
import type { RequestWork } from '../../../shared/http/definition/request-work.ts';
import { SweepAnswer } from '../../../shared/sweeps/trials/show-sweep.ts';
import { chargedTo, type Payer } from '../../../shared/sweeps/trials/sweep-state.ts';
import { answerSweep, changeSweep, decidingNeeds, sweepPath } from './sweep.ts';

/** The endpoint of an action on a sweep: `POST …/sweeps/{sweep_id}/<action>`. */
export const sweepAction = <const P extends `/${string}`>({
  act,
  ...named
}: {
  name: string;
  path: P;
  summary: string;
  description: string;
  work?: RequestWork;
  /** Returns the changed sweep, or undefined if it already is so. @throws ServiceError `conflict` */
  act(
    sweep: Sweep,
    given: { caller: Caller; records: TableReader<'records'> },
  ): Sweep | undefined | Promise<Sweep | undefined>;
}) =>
  defineEndpoint({
    ...named,
    method: 'POST',
    allow: 'developer',
    project: 'developer',
    right: 'run',
    needs: decidingNeeds,
    input: { path: sweepPath },
    repeatable: true,
    output: { 200: SweepAnswer },
    problems: ['conflict'],
    etag: true,

    async handle({ path }, context) {
      await changeSweep(context, path, (sweep) => act(sweep, context));
      return answerSweep(context.records, path);
    },
  });

/** Pause a sweep. Its running experiments go on. */
export function paused(sweep: Sweep, { username }: Pick<Caller, 'username'>): Sweep | undefined {
  refuseEnded(sweep);
  if (sweep.status === 'PAUSED') return undefined;
  return { ...sweep, status: 'PAUSED', status_reason: `Paused by ${username}.` };
}

/** Let a paused sweep go on. Its next three runs are looked at as its first ones were. */
export function resumed(sweep: Sweep, caller: Payer): Sweep | undefined {
  refuseEnded(sweep);
  if (sweep.status === 'RUNNING') return undefined;
  return { ...chargedTo(sweep, caller), status: 'RUNNING', status_reason: null, first: [] };
}

/** End a sweep and its running experiments. */
export function cancelled(sweep: Sweep, { username }: Pick<Caller, 'username'>): Sweep | undefined {
  if (sweep.status === 'CANCELLED') return undefined;
  refuseEnded(sweep);
  return {
    ...sweep,
    status: 'CANCELLED',
    status_reason: `Cancelled by ${username}.`,
    cancelled_by: username,
  };
}

/** Begin the failed runs of a sweep once more. */
export async function retried(
  sweep: Sweep,
  { caller, records }: { caller: Payer; records: TableReader<'records'> },
): Promise<Sweep | undefined> {
  if (sweep.status === 'CANCELLED')
    throw new ServiceError('conflict', 'The sweep was cancelled, so no run of it begins any more.');
  const open = new Set([...sweep.again, ...sweep.running.map(({ run }) => run)]);
  const failed = (await allRuns(records, sweep)).filter(
    (row) => lastTry(row).outcome === 'failed' && !open.has(row.run),
  );
  if (failed.length === 0) return undefined;
  return {
    ...chargedTo(sweep, caller),
    status: 'RUNNING',
    status_reason: null,
    first: [],
    ended_at: null,
    again: [...sweep.again, ...failed.map(({ run }) => run)],
    counts: { ...sweep.counts, failed: sweep.counts.failed - failed.length },
  };
}

function refuseEnded(sweep: Sweep): void {
  if (!hasEnded(sweep)) return;
  const { status } = sweep;
  const advice = status === 'CANCELLED' ? '' : ' Extend it, or try its failed runs again.';
  throw new ServiceError('conflict', `The sweep has ended: ${status}.${advice}`);
}
