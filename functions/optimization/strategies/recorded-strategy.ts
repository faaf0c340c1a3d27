import type { BatchControl } from '../../../shared/aws/batch.ts';
import type { OptimizationKind } from '../../../shared/data/jobs/job.ts';
import { requireStrategy, type Strategy } from '../../../shared/data/models/strategy.ts';
import type { TableReader, TableWriter } from '../../../shared/data/table/table.ts';
import type { Ambient } from '../../../shared/http/definition/endpoint-context.ts';
import { Reply } from '../../../shared/http/definition/reply.ts';
import { placeOneInLine } from '../../../shared/jobs/admission/place-in-line.ts';
import { startWaitingInRequest } from '../../../shared/jobs/admission/start-waiting.ts';
import { submitInRequest } from '../../../shared/jobs/submit-in-request.ts';

type Show<T> = (strategy: Strategy, now: Date) => T;

type Submitting = Pick<Ambient, 'now' | 'settings' | 'log'> & {
  records: TableWriter<'records'>;
  batch: BatchControl;
  keys: TableReader<'accounts'>;
};

/**
 * Hands a recorded strategy to Batch, or starts who waits where it waits, and answers it as it is then. Should that fail,
 * the reconciler does it later. `isFirst` says that nobody can have tried before.
 */
export async function submitAndAnswer<T>(
  { strategy, waits }: { strategy: Strategy; waits: boolean },
  show: Show<T>,
  context: Submitting,
  isFirst: boolean,
): Promise<Reply<T>> {
  const { records, batch, keys, settings, log, now } = context;
  const { kind, strategy_id } = strategy;
  if (waits) await startWaitingInRequest({ records, batch, keys, settings, now }, strategy, log);
  else await submitInRequest(strategy, context, isFirst);
  const present = await requireStrategy(records, kind, strategy_id);
  const placed = await placeOneInLine(records, settings.limits, present);
  return Reply.json(show(placed, now()), { version: present.version });
}

/**
 * Return the strategy of a request whose process died before it could respond; it may not have been submitted either.
 */
export async function replayCreated<T>(
  kind: OptimizationKind,
  strategy_id: string,
  show: Show<T>,
  context: Submitting,
): Promise<Reply<T>> {
  const { records, now } = context;
  const strategy = await requireStrategy(records, kind, strategy_id);
  if (strategy.status === 'CREATED')
    return submitAndAnswer({ strategy, waits: strategy.line_ticket !== null }, show, context, false);
  return Reply.json(show(strategy, now()), { version: strategy.version });
}
