import type { BatchControl } from '../../../shared/aws/batch.ts';
import type { OptimizationKind } from '../../../shared/data/job.ts';
import { requireStrategy, type Strategy } from '../../../shared/data/strategy.ts';
import type { TableWriter } from '../../../shared/data/table.ts';
import type { Ambient } from '../../../shared/http/definition.ts';
import { Reply } from '../../../shared/http/reply.ts';
import { submitJob } from '../../../shared/jobs/submit.ts';

type Show<T> = (strategy: Strategy, now: Date) => T;

type Submitting = Pick<Ambient, 'now' | 'settings' | 'log'> & {
  records: TableWriter<'records'>;
  batch: BatchControl;
};

/**
 * Hands a recorded strategy to Batch and answers it as it is then. Should that fail, the reconciler does it later.
 * `isFirst` says that nobody can have tried before.
 */
export async function submitAndAnswer<T>(
  strategy: Strategy,
  show: Show<T>,
  context: Submitting,
  isFirst: boolean,
): Promise<Reply<T>> {
  const { records, batch, settings, log, now } = context;
  const { kind, strategy_id } = strategy;
  try {
    await submitJob(records, batch, settings, strategy, isFirst);
  } catch (error) {
    log.warn('submit-later', { strategy_id, error: error instanceof Error ? error.name : '' });
  }
  const present = await requireStrategy(records, kind, strategy_id);
  return Reply.json(show(present, now()), { version: present.version });
}

/** Answers the strategy of a request whose attempt died before it could; it may not have been submitted either. */
export async function replayCreated<T>(
  kind: OptimizationKind,
  strategy_id: string,
  show: Show<T>,
  context: Submitting,
): Promise<Reply<T>> {
  const { records, now } = context;
  const strategy = await requireStrategy(records, kind, strategy_id);
  if (strategy.status === 'CREATED') return submitAndAnswer(strategy, show, context, false);
  return Reply.json(show(strategy, now()), { version: strategy.version });
}
