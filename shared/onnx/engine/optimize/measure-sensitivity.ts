import { ModelError } from '../../model/model-error.ts';
import type { Receipt } from '../../receipt/receipt.ts';
import { runTrial, sensitivityNames, type Trial, type TrialContext, worstError } from './run-trial.ts';

export type LayerError = Receipt['excluded_by_error'][number];

const maxSampled = 8;

/**
 * Maximum number of layers to measure one by one. If there are more, measure those with the largest weight change.
 */
const maxMeasured = 48;

/**
 * Measure the error that each layer causes alone, with all other layers unchanged, in up to half of the time that is
 * left. Sort by descending error, with layers that were not measured last. Layers with float inputs in `first` keep
 * them.
 */
export async function measureSensitivity(context: TrialContext, first: Trial): Promise<LayerError[]> {
  const layers = layersOf(first);
  const weightError = new Map<string, number>();
  for (const { layer, error } of first.transform.layers) {
    weightError.set(layer, Math.max(weightError.get(layer) ?? 0, error ?? 0));
  }
  const byWeight = layers.toSorted((a, b) => (weightError.get(b) ?? 0) - (weightError.get(a) ?? 0));
  const feed = context.feed && { ...context.feed, samples: Math.min(context.feed.samples, maxSampled) };
  const measured: LayerError[] = [];
  const { time } = context;
  const half = time.left / 2;
  const candidates = byWeight.slice(0, maxMeasured);
  for (const layer of candidates) {
    if (time.left < half) break;
    const excluded = layers.filter((other) => other !== layer);
    try {
      const alone = await runTrial(
        { ...context, feed, limit: undefined },
        { ...first, excluded },
        sensitivityNames,
      );
      const { error } = worstError(alone.compare);
      measured.push({ layer, error: Number.isFinite(error) ? error : null });
    } catch (error) {
      // The end of the time ends a stage, and not the search.
      if (!(error instanceof ModelError) || !time.isOver) throw error;
    }
  }
  const unmeasured = candidates.length - measured.length;
  if (unmeasured > 0) time.untried.push(`the sensitivity of ${unmeasured} layers`);
  const rest = byWeight.slice(measured.length).map((layer) => ({ layer, error: null }));
  return [...measured.sort(byError), ...rest];
}

/** Unique names of the layers that a trial changed. */
export const layersOf = ({ transform }: Trial): string[] => [
  ...new Set(transform.layers.map(({ layer }) => layer)),
];

/** Sort by descending error. A layer that breaks an output comes first. */
function byError(a: LayerError, b: LayerError): number {
  const rank = ({ error }: LayerError): number => error ?? Number.POSITIVE_INFINITY;
  return rank(a) === rank(b) ? 0 : rank(b) - rank(a);
}
