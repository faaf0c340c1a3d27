import type { Receipt } from '../../receipt/receipt.ts';
import { runTrial, sensitivityNames, type Trial, type TrialContext, worstError } from './run-trial.ts';

export type LayerError = Receipt['excluded_by_error'][number];

const maxSampled = 8;

/**
 * Maximum number of layers to measure one by one. If there are more, measure those with the largest weight change.
 */
const maxMeasured = 48;

/**
 * Measure the error that each layer causes alone, with all other layers unchanged. Sort by descending error.
 * Layers with float inputs in `first` keep them.
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
  for (const layer of byWeight.slice(0, maxMeasured)) {
    const excluded = layers.filter((other) => other !== layer);
    const alone = await runTrial(
      { ...context, feed, limit: undefined },
      { ...first, excluded },
      sensitivityNames,
    );
    const { error } = worstError(alone.compare);
    measured.push({ layer, error: Number.isFinite(error) ? error : null });
  }
  measured.sort(byError);
  return [...measured, ...byWeight.slice(maxMeasured).map((layer) => ({ layer, error: null }))];
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
