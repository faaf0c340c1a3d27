import type { StageAnswer } from '../../measure/session/stage-answers.ts';
import { parseRequest } from '../../methods/apply/parse-request.ts';
import { ModelError } from '../../model/model-error.ts';
import type { Receipt } from '../../receipt/receipt.ts';
import { type Trial, worstError } from '../optimize/run-trial.ts';
import { type Candidate, candidatesOf, mixedWith, withFront } from './auto-candidates.ts';
import { type AutoContext, CandidateTrials, type Measured } from './candidate-trials.ts';

interface AutoResult {
  final: Trial;
  tried: Receipt['candidates'];
  notes: string[];
  /** Calibration of the chosen method. */
  calibrated: StageAnswer<'calibrate'> | null;
  /** Its timing, if speed was the goal. */
  times: StageAnswer<'time'> | null;
}

/**
 * Search for the smallest or fastest result within a loss, and write it to the folder of the result.
 *
 * @throws ModelError naming the nearest candidate if none meets the target
 */
export async function searchAuto(context: AutoContext): Promise<AutoResult> {
  const trials = new CandidateTrials(context);
  const search = context.optimization.request.operation === 'prune' ? searchPrunings : searchQuantizations;
  await search(trials, context);
  const { best, tried, time } = trials;
  if (best === undefined) throw trials.missed();
  for (const line of time.notes) context.optimization.say(line);
  const notes = [...trials.notes, ...time.notes];
  const { trial: final, calibrated, candidate, times } = best;
  return { final, tried: withFront(tried, candidate.name), notes, calibrated, times };
}

/** Compression factors to try. They may be fractions here. */
const compressions = [1.1, 1.25, 1.5, 2, 3, 4, 6, 8, 12, 16, 24, 32];

/** Index of the first compression to try. The next one depends on whether this one meets the target. */
const first = 3;

/**
 * Try each structured strategy at the largest compression that meets the target. If speed is the goal, also try
 * the fused graph.
 */
async function searchPrunings(trials: CandidateTrials, { optimization }: AutoContext): Promise<void> {
  const { request, calibration } = optimization;
  const hasCalibration = calibration !== undefined;
  if (!hasCalibration)
    trials.notes.push('auto loses less with a calibration set: structured_reconstruct needs one.');
  const stepOf = (values: Readonly<Record<string, unknown>>) =>
    parseRequest({ operation: 'prune', seed: request.seed, ...values });
  if (request.goal === 'latency')
    await trials.try({ name: 'optimize', steps: [stepOf({ strategy: 'optimize' })] });
  const methods = [
    ...(hasCalibration
      ? [structured('structured_reconstruct', 'sensitivity'), structured('structured_reconstruct', 'uniform')]
      : []),
    structured('structured_l2'),
  ];
  for (const { name, values } of methods) {
    const holds = async (at: number): Promise<boolean> => {
      const compression = compressions[at] ?? 1;
      const candidate = { name: `${name}, compression ${compression}`, steps: [stepOf(values)], compression };
      const measured = await trials.try(candidate);
      return measured !== undefined && measured.loss <= trials.maxLoss;
    };
    let at = first;
    if (await holds(at))
      do at += 1;
      while (at < compressions.length && (await holds(at)));
    else
      do at -= 1;
      while (at >= 0 && !trials.time.isOver && !(await holds(at)));
  }
}

const structured = (strategy: string, allocation?: string) => ({
  name: [strategy, ...(allocation === undefined ? [] : [allocation])].join(', '),
  values: { strategy, ...(allocation !== undefined && { allocation }) },
});

/**
 * Try every quantization. If a small one misses the target, also try mixed precision: keep the fewest most
 * sensitive layers at 8 bits that meet it, found by bisection.
 */
async function searchQuantizations(trials: CandidateTrials, context: AutoContext): Promise<void> {
  const { request, calibration } = context.optimization;
  if (request.operation !== 'quantize') throw new Error(`${request.operation} is no quantization`);
  const hasCalibration = calibration !== undefined;
  if (!hasCalibration)
    trials.notes.push('auto tries more and better methods with a calibration set: gptq, smoothing, static.');
  // Measured once, because layers that are sensitive to one method are sensitive to the others.
  let sensitive: readonly string[] | undefined;
  /** The bytes of the best mixture's method alone, and how many layers the mixture keeps at 8 bits. */
  let mixed = { bytes: Number.POSITIVE_INFINITY, count: 0 };
  const mix = async ({ candidate, trial, bytes }: Measured): Promise<void> => {
    sensitive ??= await layersBySensitivity(trials, context, candidate, trial);
    if (trials.time.isOver) {
      trials.time.untried.push(`mixtures of ${candidate.name} with 8-bit blocks`);
      return;
    }
    const own = new Set(trial.transform.layers.map(({ layer }) => layer));
    const ranked = sensitive.filter((layer) => own.has(layer));
    let [tooFew, enough] = [0, ranked.length];
    const holds = async (count: number): Promise<boolean> => {
      const measured = await trials.try(mixedWith(candidate, ranked.slice(0, count), ranked.length));
      const isEnough = measured !== undefined && measured.loss <= trials.maxLoss;
      if (isEnough) enough = count;
      else tooFew = count;
      if (isEnough && trials.best === measured) mixed = { bytes, count };
      return isEnough;
    };
    // A method that is larger by itself makes a smaller file only with fewer layers at 8 bits.
    if (request.goal === 'size' && bytes >= mixed.bytes) enough = Math.min(enough, mixed.count);
    // The most layers that could gain come first: if they are too few, one trial tells.
    if (enough < 2 || !(await holds(enough - 1))) return;
    while (enough - tooFew > 1 && !trials.time.isOver) await holds(Math.floor((tooFew + enough) / 2));
  };
  /** Whether mixed precision could make a candidate that misses the target the best one. */
  const isWorthMixing = ({ bytes, candidate }: Measured): boolean => {
    const isUniform = candidate.steps.length === 1 && candidate.steps[0]?.strategy !== 'float16';
    return isUniform && Number.isFinite(bytes) && (trials.best === undefined || bytes < trials.best.bytes);
  };
  const { operators } = context.before;
  for (const candidate of candidatesOf({ request, hasCalibration, operators })) {
    const measured = await trials.try(candidate);
    if (measured !== undefined && measured.loss > trials.maxLoss && isWorthMixing(measured))
      await mix(measured);
  }
}

const maxSampled = 8;

/**
 * Maximum number of layers for the sensitivity measurement, chosen by the largest weight change, and number of
 * samples for each.
 */
const maxMeasured = 40;

/** Sort layers by the error that each causes alone, in descending order. */
async function layersBySensitivity(
  trials: CandidateTrials,
  { feeds }: AutoContext,
  { steps }: Candidate,
  { transform }: Trial,
): Promise<string[]> {
  const [step] = steps;
  if (step === undefined) return [];
  const layers = [...new Set(transform.layers.map(({ layer }) => layer))];
  const weightError = new Map(transform.layers.map(({ layer, error }) => [layer, error ?? 0]));
  const byWeight = layers.toSorted((a, b) => (weightError.get(b) ?? 0) - (weightError.get(a) ?? 0));
  const feed = { ...feeds.compare, samples: Math.min(feeds.compare.samples, maxSampled) };
  const measured: { layer: string; error: number }[] = [];
  for (const layer of byWeight.slice(0, maxMeasured)) {
    if (trials.time.isOver) break;
    const others = layers.filter((other) => other !== layer);
    const steps = [{ ...step, exclude: [...step.exclude, ...others] }];
    try {
      const alone = await trials.transform({ steps }, 'sensitivity');
      const compare = await trials.compare(alone.path, feed, 'sensitivity');
      measured.push({ layer, error: worstError(compare).error });
    } catch (error) {
      // The end of the search's time ends a stage, and not the search.
      if (!(error instanceof ModelError) || !trials.time.isOver) throw error;
    }
  }
  measured.sort((a, b) => b.error - a.error);
  return [...measured.map(({ layer }) => layer), ...byWeight.slice(measured.length)];
}
