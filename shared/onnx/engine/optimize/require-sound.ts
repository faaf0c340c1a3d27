import type { StageAnswer } from '../../measure/session/stage-answers.ts';
import { incomparable } from '../../measure/verify/incomparable.ts';
import { ModelError } from '../../model/model-error.ts';
import type { OptimizationRequest } from '../../strategies/optimization-request.ts';

/** What to do about a result that answers with NaN or infinity. */
const advice = (strategy: string): string =>
  strategy === 'float16'
    ? 'exclude the operators whose values half precision does not have, or quantize to 8 bits instead'
    : 'exclude the operators that cause it, or choose another strategy';

/**
 * Refuse a result with NaN or infinity where the model answers with numbers: whoever uses it would learn that late.
 *
 * @throws ModelError naming the outputs
 */
export function requireSound(
  { strategy }: Pick<OptimizationRequest, 'strategy'>,
  compare: Pick<StageAnswer<'compare'>, 'outputs' | 'data'> | null,
): void {
  const spoilt = compare?.outputs.filter(({ why }) => why?.endsWith(incomparable.spoilt)) ?? [];
  if (compare === null || spoilt.length === 0) return;
  const { source, samples } = compare.data;
  const on = source === 'synthetic' ? `${samples} made-up inputs` : `${samples} samples of the ${source} set`;
  const outputs = spoilt.map(({ name, why }) => `of ${JSON.stringify(name)}, ${why}`);
  throw new ModelError(
    `The result answers with NaN or infinity where the model has numbers, on ${on}: ${outputs.join('; ')}. Nothing was written; ${advice(strategy)}.`,
  );
}
