import type { FedInput } from '../../measure/session/stage-task.ts';
import { openDim } from '../../measure/verify/feed-plan.ts';
import type { OpenAxes } from '../../measure/verify/tried-shapes.ts';
import { ModelError } from '../../model/model-error.ts';
import type { Optimization } from './optimization.ts';
import { seedsOf } from './plan-feeds.ts';
import type { StageLog } from './stage-log.ts';

/** Inputs that a model can be run on where there is no set. */
export interface MadeUpInputs {
  inputs: FedInput[];
  notes: string[];
  /** Why the model runs on none of them; undefined where it runs, or has to be asked otherwise. */
  why?: string;
}

/** The axes whose size nothing fixes: neither the model, nor who asks, nor another input. */
function openAxes(inputs: readonly FedInput[], { shapes }: Pick<Optimization, 'shapes'>): OpenAxes {
  return Object.fromEntries(
    inputs.map(({ name, declared, dims }): [string, number[]] => [
      name,
      (dims ?? []).flatMap((dim, axis) => {
        const isGiven = typeof shapes?.get(name)?.[axis] === 'number';
        return axis > 0 && dim === openDim && !isGiven && (declared?.[axis] ?? null) === null ? [axis] : [];
      }),
    ]),
  );
}

/**
 * Look for sizes that a model runs with, where its inputs leave them open and no set shows them. The smallest that
 * works is said.
 */
export async function madeUpInputs(
  optimization: Pick<Optimization, 'model' | 'shapes'> & { request: Pick<Optimization['request'], 'seed'> },
  stages: Pick<StageLog, 'run'>,
  inputs: FedInput[],
): Promise<MadeUpInputs> {
  const open = openAxes(inputs, optimization);
  if (Object.values(open).every((axes) => axes.length === 0)) return { inputs, notes: [] };
  const seed = seedsOf(optimization.request.seed).comparison;
  const task = {
    kind: 'probe',
    model: optimization.model,
    inputs,
    open: { ...open } as Record<string, number[]>,
    seed,
  } as const;
  // A process that ends for its memory has found no size either.
  const { inputs: found, why } = await stages.run<'probe'>('probe', task).catch((error: unknown) => {
    if (error instanceof ModelError) return { inputs: null, why: error.message };
    throw error;
  });
  if (found === null) return { inputs, notes: [], why: why ?? '' };
  const isChanged = found.some(({ dims }, at) => dims?.join() !== inputs[at]?.dims?.join());
  const said = found
    .map(({ name, dims }) => `${JSON.stringify(name)} [${dims?.join(', ') ?? ''}]`)
    .join(', ');
  return {
    inputs: found,
    notes: isChanged
      ? [`The inputs leave sizes open. The smallest made-up ones that the model runs with are ${said}.`]
      : [],
  };
}
