import { totalmem } from 'node:os';
import type { FedInput, Feed, RequestedShapes } from '../../measure/session/stage-task.ts';
import { openDim } from '../../measure/verify/feed-plan.ts';
import { isUnknownNumber, type OpenAxes } from '../../measure/verify/synthetic-inputs.ts';
import { ModelError } from '../../model/model-error.ts';
import type { Measure } from '../../strategies/measure.ts';
import type { Bounds } from '../process/stage-bounds.ts';
import type { Optimization } from './optimization.ts';
import type { StageRunner } from './stage-runner.ts';

type Planned = Pick<
  Optimization,
  'calibration' | 'evaluation' | 'request' | 'shapes' | 'areShapesStored' | 'outputShapes'
>;

export interface FeedPlans {
  calibrate: Feed;
  /** Data for comparing outputs and measuring times. Differs from the calibration data if possible. */
  compare: Feed;
}

/** Maximum number of samples: for calibration, and for comparison by kind of data. */
const most = { calibration: 1024, evaluation: 10_000, compared: 32, synthetic: 8, calibratedSynthetic: 16 };

/** If the result must meet a bound, all samples of a set count. */
const all = 2 ** 31 - 1;

/** Choose the data of each session. */
export function planFeeds(optimization: Planned, inputs: FedInput[]): FeedPlans {
  const { calibration, evaluation, request } = optimization;
  const asked = askedOf(optimization);
  const seeds = seedsOf(request.seed);
  const synthetic = (samples: number, seed: number): Feed => ({
    inputs,
    set: null,
    source: 'synthetic',
    samples,
    seed,
  });
  const fromSet = (set: string, source: Feed['source'], samples: number): Feed => ({
    inputs,
    set,
    asked,
    source,
    samples,
    seed: seeds.comparison,
  });
  const calibrate =
    calibration === undefined
      ? synthetic(most.calibratedSynthetic, seeds.calibration)
      : fromSet(calibration, 'calibration', most.calibration);
  const isBound = request.strategy === 'auto' || request.max_error !== null;
  if (evaluation !== undefined)
    return { calibrate, compare: fromSet(evaluation, 'evaluation', isBound ? all : most.evaluation) };
  const compare =
    calibration === undefined
      ? { ...synthetic(most.synthetic, seeds.comparison), silence: true }
      : fromSet(calibration, 'calibration', isBound ? all : most.compared);
  return { calibrate, compare };
}

function askedOf({ shapes, areShapesStored, outputShapes }: Planned): RequestedShapes {
  const record = (of: Planned['shapes']) =>
    Object.fromEntries([...(of ?? [])].map(([name, dims]) => [name, [...dims]]));
  return { inputs: areShapesStored === true ? {} : record(shapes), outputs: record(outputShapes) };
}

/** Seeds of synthetic data, one for calibration and another for comparison. */
export const seedsOf = (seed: number): { calibration: number; comparison: number } => ({
  calibration: seed,
  comparison: (seed ^ 0x5bd1e995) >>> 0,
});

/** Share of the memory for a stage. The system, its file cache and the supervisor use the rest. */
const share = 0.75;

const seconds = 3600;

/** Default limits of a stage: three quarters of the memory available to this process, and an hour. */
export function boundsOf(limits: Partial<Bounds> | undefined): Bounds {
  // Without a cgroup limit this is zero or more than the machine's memory.
  const constrained = process.constrainedMemory();
  const memory = constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
  return {
    memoryBytes: limits?.memoryBytes ?? Math.floor(memory * share),
    seconds: limits?.seconds ?? seconds,
  };
}

/**
 * Memory of a session relative to its weights. It holds the weights of the file, the layout for its kernels, and
 * working memory.
 */
const sessionShare = 2.5;

const processBytes = 400 * 2 ** 20;

/** Whether sessions of models with these weight sizes fit into memory at the same time. */
export const fitInMemory = ({ memoryBytes }: Bounds, ...weightBytes: readonly number[]): boolean =>
  weightBytes.reduce((sum, bytes) => sum + bytes * sessionShare, processBytes) <= memoryBytes;

/** A quick receipt takes seconds, usually less than the optimization itself. */
export const extents: Readonly<Record<Measure, Extent>> = {
  none: { timeSeconds: 0, wholeBytes: Number.POSITIVE_INFINITY },
  quick: { compareSeconds: 1, timeSeconds: 0.5, wholeBytes: 2 ** 30 },
  full: { timeSeconds: 120, wholeBytes: Number.POSITIVE_INFINITY },
};

/** Extent of a receipt's measurements. */
interface Extent {
  /** Seconds after which a model gets no further sample for comparison. */
  compareSeconds?: number;
  /** Seconds of timing; 0 for no timing. */
  timeSeconds: number;
  /** Models with more weight bytes are checked layer by layer and not run as a whole. */
  wholeBytes: number;
}

/** Synthetic inputs of a model without a set. */
export interface MadeUpInputs {
  inputs: FedInput[];
  notes: string[];
  /** Why the model runs on none of them; undefined if it runs or was not tried. */
  why?: string;
}

/**
 * Find inputs that a model runs with, if they have open dimensions or take whole numbers of unknown use, and no set
 * shows them. Note the smallest sizes that work.
 */
export async function syntheticInputs(
  optimization: Pick<Optimization, 'model' | 'shapes'> & { request: Pick<Optimization['request'], 'seed'> },
  stages: Pick<StageRunner, 'run'>,
  inputs: FedInput[],
): Promise<MadeUpInputs> {
  const open = openAxes(inputs, optimization);
  const isOpen = Object.values(open).some((axes) => axes.length > 0);
  if (!isOpen && !inputs.some(isUnknownNumber)) return { inputs, notes: [] };
  const seed = seedsOf(optimization.request.seed).comparison;
  const task = {
    kind: 'probe',
    model: optimization.model,
    inputs,
    open: { ...open } as Record<string, number[]>,
    seed,
  } as const;
  // A process that exceeds its memory has not found a size either.
  const { inputs: found, why } = await stages.run<'probe'>('probe', task).catch((error: unknown) => {
    if (error instanceof ModelError) return { inputs: null, why: error.message };
    throw error;
  });
  // Where no size was in question, the model runs with what it declares, and ends with its own fault.
  if (found === null && !isOpen) return { inputs, notes: [] };
  if (found === null) return { inputs, notes: [], why: why ?? '' };
  const isChanged = found.some(({ dims }, at) => dims?.join() !== inputs[at]?.dims?.join());
  const said = found
    .map(({ name, dims }) => `${JSON.stringify(name)} [${dims?.join(', ') ?? ''}]`)
    .join(', ');
  const sizeNotes = [
    `The inputs leave sizes open. The smallest made-up ones that the model runs with are ${said}.`,
  ];
  const zeros = found.filter((one, at) => one.below === 1 && inputs[at]?.below !== 1);
  const zeroNames = zeros.map(({ name }) => JSON.stringify(name)).join(', ');
  return {
    inputs: found,
    notes: [
      ...(isChanged ? sizeNotes : []),
      ...(zeros.length > 0 ? [`Made-up values of ${zeroNames} are 0: the model does not run with 1.`] : []),
    ],
  };
}

/** The axes without a size from the model, the request or another input. */
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
