import type { Receipt } from '../../receipt/receipt.ts';
import { runTrial, sensitivityNames, type Trial, type TrialContext, worstError } from './run-trial.ts';

export type LayerError = Receipt['excluded_by_error'][number];

const maxSampled = 8;

/** Layers that are measured one by one; of more, those whose weights changed most. */
const maxMeasured = 48;

/**
 * Error that each layer causes alone: the model with this one transformed and all the others as they were. The largest
 * comes first. Layers whose inputs stay float in `first` keep them so.
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

/** The names of the layers that a trial changed, each once. */
export const layersOf = ({ transform }: Trial): string[] => [
  ...new Set(transform.layers.map(({ layer }) => layer)),
];

/** One that breaks an output altogether comes first. */
function byError(a: LayerError, b: LayerError): number {
  const rank = ({ error }: LayerError): number => error ?? Number.POSITIVE_INFINITY;
  return rank(a) === rank(b) ? 0 : rank(b) - rank(a);
}
