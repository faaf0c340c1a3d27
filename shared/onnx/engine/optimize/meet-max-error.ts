import { incomparable } from '../../measure/verify/incomparable.ts';
import { ModelError } from '../../model/model-error.ts';
import { bisectLayers, errorText } from './bisect-layers.ts';
import { keepInputsFloat } from './keep-inputs-float.ts';
import { type LayerError, measureSensitivity } from './measure-sensitivity.ts';
import { runTrial, type Trial, type TrialContext, worstError } from './run-trial.ts';

export interface AcceptedTrial {
  final: Trial;
  /** Most sensitive first. */
  excluded: LayerError[];
  notes: string[];
  /** Warnings that the receipt shows first. */
  warnings: string[];
}

/**
 * Transform a model within `max_error`, the limit of each output's relative error. If the transformation of all
 * layers exceeds it, measure each layer's share and leave the fewest most sensitive layers unchanged. A static
 * quantization of a transformer first keeps activations in float (`keepInputsFloat`), and weights only after that.
 *
 * @throws ModelError if pruning exceeds `max_error`, or if transforming a single layer still exceeds it
 */
export async function meetMaxError(context: TrialContext, max_error: number | null): Promise<AcceptedTrial> {
  const { time } = context;
  const first = await time.measured(() => runTrial(context, { excluded: [] }));
  if (max_error === null) return { final: first, excluded: [], notes: [], warnings: [] };
  requireComparable(first, max_error);
  const worst = worstError(first.compare);
  if (worst.error <= max_error) return { final: first, excluded: [], notes: [], warnings: [] };
  const said = `The output ${JSON.stringify(worst.name)} has a relative error of ${errorText(worst.error)}, above max_error ${max_error}`;
  const { request, say } = context.optimization;
  if (request.operation === 'prune') throw new ModelError(`${said}. Request a lower compression.`);
  say(`${said}: measuring which layers cause it.`);
  const kept = await keepInputsFloat({ ...context, limit: max_error }, first, max_error);
  if (kept.holds)
    return { final: kept.trial, excluded: [], notes: [...kept.notes, ...time.notes], warnings: [] };
  const measured = await measureSensitivity(kept.context, kept.trial);
  const ranked = kept.trial === first ? measured : bySaving(measured, kept.trial);
  const found = await bisectLayers(kept.context, {
    ...{ max_error, of: ranked.length },
    choose: (count) => ({ ...kept.trial, excluded: ranked.slice(0, count).map(({ layer }) => layer) }),
    said: (count) => `Without ${count} of ${ranked.length} layers`,
  });
  if (found === undefined)
    throw new ModelError([`${said}, even if only one layer is changed.`, ...time.notes].join(' '));
  const { count, final } = found;
  return {
    final,
    excluded: ranked.slice(0, count),
    warnings: leftOut(count, ranked.length, max_error),
    notes: [
      ...kept.notes,
      `${count} of ${ranked.length} layers are unchanged to meet max_error ${max_error}.`,
      ...time.notes,
    ],
  };
}

/** Refuse outputs without finite values in the original model. No choice of layers can change that. */
function requireComparable({ compare }: Trial, max_error: number): void {
  for (const { name, why } of compare?.outputs ?? []) {
    if (why !== incomparable.noValues && why !== incomparable.noNumbers) continue;
    throw new ModelError(
      `max_error ${max_error} cannot be judged: the output ${JSON.stringify(name)} ${why}; give an evaluation set with finite outputs, or leave out max_error.`,
    );
  }
}

/** Sort layers for exclusion by the error that they save per additional byte. */
function bySaving(ranked: readonly LayerError[], { transform }: Trial): LayerError[] {
  const sizes = new Map(transform.layers.map((layer) => [layer.layer, layer.parameters_before]));
  const saving = ({ layer, error }: LayerError): number =>
    (error ?? Number.POSITIVE_INFINITY) ** 2 / Math.max(sizes.get(layer) ?? 1, 1);
  return ranked.toSorted((a, b) => (saving(a) === saving(b) ? 0 : saving(b) - saving(a)));
}

/** Warn that most of a model is unchanged. The rest of the receipt then describes only the changed part. */
function leftOut(excluded: number, layers: number, max_error: number): string[] {
  if (excluded * 2 <= layers) return [];
  return [
    `MOST LAYERS ARE UNCHANGED: max_error ${max_error} excludes ${excluded} of ${layers}. Allow a larger error, or choose another strategy.`,
  ];
}
