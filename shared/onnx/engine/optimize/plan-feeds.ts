import type { FedInput, Feed, RequestedShapes } from '../../measure/session/stage-task.ts';
import type { Optimization } from './optimization.ts';

/** Samples that are taken at most: to calibrate, and to compare from each kind of data. */
const most = { calibration: 1024, evaluation: 10_000, compared: 32, synthetic: 8, calibratedSynthetic: 16 };
/** Where the result must hold a bound, all samples of a set count. */
const all = 2 ** 31 - 1;

export interface FeedPlans {
  calibrate: Feed;
  /** Data on which outputs are compared and times are measured: data that calibrated nothing, where there are any. */
  compare: Feed;
}

/** Seeds of synthetic data: one for calibrating, another one for comparing. */
export const seedsOf = (seed: number): { calibration: number; comparison: number } => ({
  calibration: seed,
  comparison: (seed ^ 0x5bd1e995) >>> 0,
});

type Planned = Pick<
  Optimization,
  'calibration' | 'evaluation' | 'request' | 'shapes' | 'areShapesStored' | 'outputShapes'
>;

function askedOf({ shapes, areShapesStored, outputShapes }: Planned): RequestedShapes {
  const record = (of: Planned['shapes']) =>
    Object.fromEntries([...(of ?? [])].map(([name, dims]) => [name, [...dims]]));
  return { inputs: areShapesStored === true ? {} : record(shapes), outputs: record(outputShapes) };
}

/** Which data each session is fed. */
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
