import { findModel, type Model, modelWrites } from '../../data/models/model.ts';
import { parseStrategy, type ResultFile, strategyKey } from '../../data/models/strategy.ts';
import type { Write } from '../../data/table/table.ts';
import type { Conclusion } from '../../jobs/conclusion.ts';
import { concludeHeldJob } from '../conclusion/conclude-held-job.ts';
import { retryFor } from '../job/retry-for.ts';
import { notRegistered, type Registered } from './register-named.ts';
import type { StrategyJob } from './strategy-job.ts';
import { sweepResults } from './sweep-results.ts';

/** How a strategy ends, with all that is recorded in the same step. */
export interface StrategyEnd {
  conclusion: Conclusion;
  /** Writes that belong to the conclusion. */
  further: readonly Write[];
  result: readonly ResultFile[];
  /** The model that the result becomes, where it does. */
  model: Model | undefined;
}

const patienceSeconds = 600;

const namedBy = ({ result, model }: StrategyEnd): Set<string> =>
  new Set([...result, ...(model?.files ?? [])].map(({ object }) => object));

/** Conclusion of a strategy whose result becomes, or does not become, a model. */
export const withRegistered = (
  conclusion: Conclusion,
  { registered, reason }: Omit<Registered, 'model'>,
): Conclusion => ({ ...conclusion, reason, change: { ...conclusion.change, registered } });

const write = (job: StrategyJob, { conclusion, further, model }: StrategyEnd): Promise<boolean> =>
  concludeHeldJob(job, conclusion, ...further, ...(model === undefined ? [] : modelWrites(model, undefined)));

/** Whether this very end is on record: a try whose answer was lost makes the next one fail. */
async function isTaken({ record, records }: StrategyJob, { result }: StrategyEnd): Promise<boolean> {
  const key = strategyKey(record.kind, record.strategy_id);
  const item = await retryFor(patienceSeconds, () => records.get(key));
  const stored = item === undefined ? [] : parseStrategy(item).result;
  return result.some(({ object }) => stored.some((file) => file.object === object));
}

/** The same end without its model, where the name of that has been taken since; undefined where it has not. */
async function withoutModel({ record, records }: StrategyJob, end: StrategyEnd) {
  const { result_name } = record;
  if (end.model === undefined || result_name === null) return undefined;
  const present = await retryFor(patienceSeconds, () => findModel(records, result_name));
  if (present === undefined) return undefined;
  const why = notRegistered(result_name, `There is a model ${result_name} already.`);
  return { ...end, model: undefined, conclusion: withRegistered(end.conclusion, why) };
}

/**
 * Conclude a strategy: its result becomes a model in the same transaction or not at all, and no object without a
 * record is left in the bucket. Where another container holds the job nothing is written, and the objects of this one
 * are deleted.
 */
export async function concludeStrategy(job: StrategyJob, end: StrategyEnd): Promise<void> {
  // The first attempt that succeeds has left nothing else.
  const { lease, record } = job;
  const isWhole =
    end.conclusion.status === 'SUCCEEDED' && (end.model !== undefined || record.result_name === null);
  if (!isWhole || lease.number > 1) await sweepResults(job, namedBy(end));
  if ((await write(job, end)) || (await isTaken(job, end))) return;
  const other = await withoutModel(job, end);
  if (other !== undefined) {
    await sweepResults(job, namedBy(other));
    if (await write(job, other)) return;
  }
  const own = [...namedBy(end)];
  if (own.length > 0) await retryFor(patienceSeconds, () => job.objects.delete(own));
}
