import { lchown, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { StageAnswer } from '../../measure/session/stage-answers.ts';
import type { Feed, TaskOf } from '../../measure/session/stage-task.ts';
import { incomparable } from '../../measure/verify/incomparable.ts';
import { ModelError } from '../../model/model-error.ts';
import { fewestChoices, uselessError } from '../../receipt/receipt.ts';
import type { OptimizationRequest } from '../../strategies/optimization-request.ts';
import type { SearchTime } from '../auto/search-time.ts';
import type { Optimization } from './optimization.ts';
import type { StageRunner } from './stage-runner.ts';

/**
 * A transformed model and the comparison of its outputs with the model's. The comparison is null if the model was
 * not run.
 */
export interface Trial {
  excluded: readonly string[];
  /** Layers with quantized weights and float inputs. */
  floatInputs?: readonly string[];
  transform: StageAnswer<'transform'>;
  compare: StageAnswer<'compare'> | null;
}

/** Stage names of a trial with the whole model, and of a trial for the sensitivity of a layer. */
const stageNames = { transform: 'transform', compare: 'compare' };

/**
 * Transform the model except the excluded layers and the inputs of layers in `floatInputs`. Then compare.
 *
 * @throws ModelError also if it takes longer than the time that is left
 */
export async function runTrial(
  context: TrialContext,
  { excluded, floatInputs }: Pick<Trial, 'excluded' | 'floatInputs'>,
  names = stageNames,
): Promise<Trial> {
  const { optimization, stages, out, observed, feed, seconds, limit, eightBits } = context;
  const left = () => (Number.isFinite(context.time.left) ? context.time.left : undefined);
  await emptyFolder(out, optimization.user);
  const task: TaskOf<'transform'> = {
    kind: 'transform',
    model: optimization.model,
    request: { ...optimization.request },
    exclude: [...excluded],
    ...(floatInputs !== undefined && { float_inputs: [...floatInputs] }),
    ...(eightBits !== undefined && { eight_bits: [...eightBits] }),
    observed,
    out,
    name: optimization.name,
  };
  const transform = await stages.run<'transform'>(names.transform, task, left());
  const after = join(out, transform.files[0] ?? '');
  const trial = { excluded, ...(floatInputs !== undefined && { floatInputs }), transform };
  if (feed === null) return { ...trial, compare: null };
  const comparison: TaskOf<'compare'> = {
    ...{ kind: 'compare', before: optimization.model, after, feed },
    ...(limit !== undefined && { limit: { of: 'error', most: limit } }),
    ...(seconds !== undefined && { seconds }),
  };
  return { ...trial, compare: await stages.run<'compare'>(names.compare, comparison, left()) };
}

/** Context of all trials of one optimization. */
export interface TrialContext {
  optimization: Optimization;
  stages: StageRunner;
  /** The time that the trials may take together. */
  time: SearchTime;
  /** Folder of the result. Each trial empties and refills it. */
  out: string;
  /** Folder with the values that calibration observed; null if there are none. */
  observed: string | null;
  /** Observes the values that another request for the same model needs. Returns the new folder that holds them. */
  observe(request: OptimizationRequest): Promise<string | null>;
  /** How often each operator occurs in the model. */
  operators: Readonly<Record<string, number>>;
  /** Data for the comparison; null if the model is too large to run. */
  feed: Feed | null;
  /** Maximum seconds to run each model. If absent, each model is run on all samples. */
  seconds?: number | undefined;
  /** Layers whose blocks have 8 bits, whatever the precision. */
  eightBits?: readonly string[] | undefined;
  /** The largest error that a trial may have. A trial is stopped as soon as it exceeds this error. */
  limit?: number | undefined;
}

/** An empty folder that stages may write to. */
export async function emptyFolder(folder: string, user: Optimization['user']): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { mode: 0o700 });
  // Do not follow a link. The stage's user may have created one.
  if (user !== undefined) await lchown(folder, user.uid, user.gid);
}

export const sensitivityNames = { transform: 'sensitivity', compare: 'sensitivity' };

type Compared = Pick<StageAnswer<'compare'>, 'outputs' | 'accuracy' | 'agreement' | 'data'>;

/**
 * Return the largest relative error of an output. It is infinite if an output is broken and cannot be compared.
 */
export function worstError(compare: Pick<Compared, 'outputs'> | null): { name: string; error: number } {
  let worst = { name: '', error: 0 };
  for (const { name, relative_l2_error, why } of compare?.outputs ?? []) {
    const error = relative_l2_error ?? (why === incomparable.noTensor ? 0 : Number.POSITIVE_INFINITY);
    if (error >= worst.error) worst = { name, error };
  }
  return worst;
}

/**
 * Return what the loss of a result is of: accuracy if there are labels; else agreement on a given set, if the set is large enough
 * to say so and the outputs are not far off altogether; else the largest output error.
 */
export function lossMeasure(compare: Compared): 'accuracy' | 'agreement' | 'error' {
  const { accuracy, agreement, data } = compare;
  if (accuracy !== null) return 'accuracy';
  const isKnown = agreement !== null && agreement.choices >= fewestChoices && data.source !== 'synthetic';
  return isKnown && worstError(compare).error <= uselessError ? 'agreement' : 'error';
}

/** The loss of a result: the drop in accuracy or agreement, as a share, or the largest output error. */
export function lossOf(compare: Compared): number {
  const { accuracy, agreement } = compare;
  const measure = lossMeasure(compare);
  if (measure === 'accuracy' && accuracy !== null) return Math.max(0, accuracy.before - accuracy.after);
  if (measure === 'agreement' && agreement !== null) return Math.max(0, 1 - agreement.share);
  return worstError(compare).error;
}

/**
 * Refuse a result that outputs NaN or infinity for finite outputs of the model. Users would discover that late.
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
  const on =
    source === 'synthetic' ? `${samples} generated inputs` : `${samples} samples of the ${source} set`;
  const outputs = spoilt.map(({ name, why }) => `of ${JSON.stringify(name)}, ${why}`);
  throw new ModelError(
    `The result returns NaN or infinity for finite outputs of the model, on ${on}: ${outputs.join('; ')}. Nothing was written; ${advice(strategy)}.`,
  );
}

/** Advice for a result that outputs NaN or infinity. */
const advice = (strategy: string): string =>
  strategy === 'float16'
    ? 'exclude the operators with values beyond half precision, or quantize to 8 bits instead'
    : 'exclude the operators that cause it, or choose another strategy';
