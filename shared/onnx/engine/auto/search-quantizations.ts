import { worstError } from '../optimize/loss-of.ts';
import type { Trial } from '../optimize/run-trial.ts';
import { type Candidate, candidatesOf, mixedWith } from './auto-candidates.ts';
import type { AutoContext, CandidateTrials, Measured } from './candidate-trials.ts';

/** Layers whose sensitivity is measured, those with the largest change of their weight first; samples for each. */
const maxMeasured = 40;
const maxSampled = 8;

/** Layers by the error that each causes alone, the largest first. */
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
    const others = layers.filter((other) => other !== layer);
    const steps = [{ ...step, exclude: [...step.exclude, ...others] }];
    const alone = await trials.transform({ steps }, 'sensitivity');
    const compare = await trials.compare(alone.path, feed, 'sensitivity');
    measured.push({ layer, error: worstError(compare).error });
  }
  measured.sort((a, b) => b.error - a.error);
  return [...measured.map(({ layer }) => layer), ...byWeight.slice(maxMeasured)];
}

/**
 * Tries every quantization; where a small one misses the target, also with the fewest of its most sensitive layers in 8
 * bits that hold it, found by halving.
 */
export async function searchQuantizations(trials: CandidateTrials, context: AutoContext): Promise<void> {
  const { request, calibration } = context.optimization;
  if (request.operation !== 'quantize') throw new Error(`${request.operation} is no quantization`);
  const hasCalibration = calibration !== undefined;
  if (!hasCalibration)
    trials.notes.push('auto tries more and better methods with a calibration set: gptq, smoothing, static.');
  // Measured once: layers that are sensitive to one method are so to the others.
  let sensitive: readonly string[] | undefined;
  const mix = async ({ candidate, trial }: Measured): Promise<void> => {
    sensitive ??= await layersBySensitivity(trials, context, candidate, trial);
    const own = new Set(trial.transform.layers.map(({ layer }) => layer));
    const ranked = sensitive.filter((layer) => own.has(layer));
    let [tooFew, enough] = [0, ranked.length];
    while (enough - tooFew > 1) {
      const count = Math.floor((tooFew + enough) / 2);
      const measured = await trials.try(mixedWith(candidate, ranked.slice(0, count), ranked.length));
      if (measured !== undefined && measured.loss <= trials.maxLoss) enough = count;
      else tooFew = count;
    }
  };
  /** Whether a candidate that misses the target could still become the best one. */
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
