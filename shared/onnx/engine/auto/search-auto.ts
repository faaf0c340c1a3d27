import type { StageAnswer } from '../../measure/session/stage-answers.ts';
import { exceedsShare } from '../../measure/verify/exceeds-share.ts';
import { parseRequest } from '../../methods/apply/parse-request.ts';
import { ModelError } from '../../model/model-error.ts';
import type { Receipt } from '../../receipt/receipt.ts';
import { lossMeasure, type Trial, worstError } from '../optimize/run-trial.ts';
import { type Candidate, candidatesOf, eightBits, mixedWith, withFront } from './auto-candidates.ts';
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
  /** Each method alone. */
  const triedAlone = new Map<string, Measured>();
  /** Mixtures that missed the target: their loss, and how many layers had 8 bits. */
  const missed: { of: Measured; loss: number; count: number }[] = [];
  const futile = new Map<string, string[]>();
  const skip = (name: string, why: string) => futile.set(why, [...(futile.get(why) ?? []), name]);
  /** The loss of 8-bit blocks, if it misses the target. Fewer bits lose more, and so does a mixture with them. */
  let eightBitsLose: number | undefined;
  // Measured once, because layers that are sensitive to one method are sensitive to the others.
  let sensitive: readonly string[] | undefined;
  const mix = async (alone: Measured): Promise<void> => {
    const { candidate, trial, bytes, loss } = alone;
    sensitive ??= await layersBySensitivity(trials, context, candidate, trial);
    if (trials.time.isOver) {
      trials.time.untried.push(`mixtures of ${candidate.name} with 8-bit blocks`);
      return;
    }
    const layers = new Set(trial.transform.layers.map(({ layer }) => layer));
    const ranked = sensitive.filter((layer) => layers.has(layer));
    const least = trials.best?.bytes ?? Number.POSITIVE_INFINITY;
    /** The bytes of a mixture, estimated by the parameters of its layers at 8 bits. */
    const sizeWith = mixtureSizes(trial, ranked, {
      own: bytes,
      eightBits: triedAlone.get(eightBits)?.bytes ?? bytes,
    });
    const isSmall = (count: number) =>
      request.goal === 'latency' || sizeWith(count) < least * (1 - leastGain);
    let [tooFew, enough] = [0, ranked.length];
    // Only so many layers that the file would be the smallest.
    while (enough > 1 && !isSmall(enough - 1)) enough -= 1;
    /** Whether fewer layers at 8 bits could make the file smaller by a share that is worth a trial. */
    const couldGain = () => sizeWith(enough) - sizeWith(tooFew) > sizeWith(enough) * leastGain;
    const holds = async (count: number): Promise<boolean> => {
      const measured = await trials.try(mixedWith(candidate, ranked.slice(0, count), ranked.length));
      const isEnough = measured !== undefined && measured.loss <= trials.maxLoss;
      if (isEnough) enough = count;
      else tooFew = count;
      if (measured !== undefined && !isEnough) missed.push({ of: alone, loss: measured.loss, count });
      return isEnough;
    };
    if (enough < 2) return;
    const worse = missed.find(
      (mixture) => mixture.count >= enough - 1 && mixture.loss * (loss / mixture.of.loss) > trials.maxLoss,
    );
    if (worse !== undefined) {
      skip(
        `mixtures of ${candidate.name} with 8-bit blocks`,
        `one of ${worse.of.candidate.name} with ${worse.count} layers in such blocks loses ${shortNumber(worse.loss)}, and with more than ${enough - 1} the file would not be the smallest`,
      );
      return;
    }
    // The most layers that could gain come first: if they are too few, one trial tells.
    if (!(await holds(enough - 1))) return;
    while (enough - tooFew > 1 && couldGain() && !trials.time.isOver)
      await holds(Math.floor((tooFew + enough) / 2));
  };
  /** Whether mixed precision could make a candidate that misses the target the best one. */
  const isWorthMixing = ({ bytes, candidate }: Measured): boolean => {
    const isUniform = candidate.steps.length === 1 && candidate.steps[0]?.strategy !== 'float16';
    const isSmaller = trials.best === undefined || bytes < trials.best.bytes * (1 - leastGain);
    return eightBitsLose === undefined && isUniform && Number.isFinite(bytes) && isSmaller;
  };
  /** Why a candidate cannot be the best one; undefined if it can. */
  const whyFutile = ({
    steps: [step],
    noSmallerThan,
    hopelessBeyond = {},
  }: Candidate): string | undefined => {
    if (eightBitsLose !== undefined && step?.operation === 'quantize' && step.precision < 8)
      return `${eightBits} already loses ${shortNumber(eightBitsLose)}, and fewer bits lose more`;
    for (const [name, times] of Object.entries(hopelessBeyond)) {
      const tried = triedAlone.get(name);
      if (tried !== undefined && surelyLoses(tried, times * trials.maxLoss))
        return `${name} loses ${shortNumber(tried.loss)}, more than ${times} times max_loss`;
    }
    const least = triedAlone.get(noSmallerThan ?? '')?.bytes;
    const { best } = trials;
    if (request.goal === 'latency' || best === undefined || least === undefined || least < best.bytes)
      return undefined;
    return `no file of theirs is smaller than that of ${best.candidate.name}`;
  };
  const { operators } = context.before;
  for (const candidate of candidatesOf({ request, hasCalibration, operators })) {
    const why = whyFutile(candidate);
    if (why !== undefined) {
      skip(candidate.name, why);
      continue;
    }
    const measured = await trials.try(candidate);
    if (measured === undefined) continue;
    triedAlone.set(candidate.name, measured);
    if (measured.loss <= trials.maxLoss) continue;
    if (candidate.name === eightBits) eightBitsLose = measured.loss;
    if (isWorthMixing(measured)) await mix(measured);
  }
  for (const [why, names] of futile) trials.notes.push(`Not tried: ${names.join('; ')}, because ${why}.`);
}

const shortNumber = (loss: number): number => Number(loss.toPrecision(3));

/** Chance of a loss on the samples of a comparison that those of the whole set would not show. */
const chance = 0.05;

/** Whether a candidate loses more than a share, also if its comparison ended early. */
function surelyLoses({ loss, trial: { compare } }: Measured, share: number): boolean {
  if (compare === null || lossMeasure(compare) === 'error') return loss > share;
  const of = compare.accuracy === null ? (compare.agreement?.choices ?? 0) : compare.accuracy.samples;
  return share < 1 && exceedsShare(Math.round(loss * of), of, share, chance);
}

/** Return what a mixture has in bytes, between its own method and 8-bit blocks, by how many ranked layers have 8 bits. */
function mixtureSizes(
  { transform: { layers } }: Trial,
  ranked: readonly string[],
  bytes: { own: number; eightBits: number },
): (count: number) => number {
  const parameters = new Map(layers.map(({ layer, parameters_before }) => [layer, parameters_before]));
  const all = ranked.reduce((sum, layer) => sum + (parameters.get(layer) ?? 0), 0);
  return (count) => {
    const kept = ranked.slice(0, count).reduce((sum, layer) => sum + (parameters.get(layer) ?? 0), 0);
    return bytes.own + (bytes.eightBits - bytes.own) * (kept / Math.max(1, all));
  };
}

/** Share of a file by which a further trial must be able to make it smaller. */
const leastGain = 0.02;

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
