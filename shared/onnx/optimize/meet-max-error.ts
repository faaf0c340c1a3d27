import { ModelError } from '../model-error.ts';
import type { Receipt } from '../receipt/receipt.ts';
import { incomparable } from '../verify/incomparable.ts';
import { worstError } from './loss-of.ts';
import { runTrial, sensitivityNames, type Trial, type TrialContext } from './run-trial.ts';

type ExcludedLayer = Receipt['excluded_by_error'][number];

export interface AcceptedTrial {
  final: Trial;
  /** Most sensitive first. */
  excluded: ExcludedLayer[];
  notes: string[];
  /** What to know before anything else. */
  warnings: string[];
}

/** Layers that are measured one by one; of more, those whose weights changed most. */
const measuredMost = 48;
const sampledMost = 8;

/** Refuse outputs without any finite value in the model itself: no choice of layers changes that. */
function requireComparable({ compare }: Trial, max_error: number): void {
  for (const { name, why } of compare?.outputs ?? []) {
    if (why !== incomparable.noValues && why !== incomparable.noNumbers) continue;
    throw new ModelError(
      `max_error ${max_error} cannot be judged: the output ${JSON.stringify(name)} ${why}; give an evaluation set that the model answers with numbers, or leave out max_error.`,
    );
  }
}

const percent = (error: number): string =>
  Number.isFinite(error) ? String(Number(error.toPrecision(3))) : 'infinite';

/** Error that each layer causes alone: the model with this one transformed and all the others as they were. */
async function measureSensitivity(context: TrialContext, first: Trial): Promise<ExcludedLayer[]> {
  const layers = [...new Set(first.transform.layers.map(({ layer }) => layer))];
  const weightError = new Map<string, number>();
  for (const { layer, error } of first.transform.layers) {
    weightError.set(layer, Math.max(weightError.get(layer) ?? 0, error ?? 0));
  }
  const byWeight = layers.toSorted((a, b) => (weightError.get(b) ?? 0) - (weightError.get(a) ?? 0));
  const feed = context.feed && { ...context.feed, samples: Math.min(context.feed.samples, sampledMost) };
  const measured: ExcludedLayer[] = [];
  for (const layer of byWeight.slice(0, measuredMost)) {
    const others = layers.filter((other) => other !== layer);
    const alone = await runTrial({ ...context, feed }, others, sensitivityNames);
    const { error } = worstError(alone.compare);
    measured.push({ layer, error: Number.isFinite(error) ? error : null });
  }
  // One that breaks an output altogether comes first.
  const rank = ({ error }: ExcludedLayer): number => error ?? Number.POSITIVE_INFINITY;
  measured.sort((a, b) => (rank(a) === rank(b) ? 0 : rank(b) - rank(a)));
  return [...measured, ...byWeight.slice(measuredMost).map((layer) => ({ layer, error: null }))];
}

/** Says that most of a model was left as it was: what else a receipt says is then about the rest. */
function leftOut(excluded: number, layers: number, max_error: number): string[] {
  if (excluded * 2 <= layers) return [];
  return [
    `MOST LAYERS ARE AS THEY WERE: max_error ${max_error} left out ${excluded} of ${layers}. Allow a larger error, or choose another strategy.`,
  ];
}

/**
 * Transforms a model so that no output's relative error exceeds `max_error`. Where transforming all of it does, each
 * layer's own share is measured, and the fewest of the most sensitive ones that suffice are left as they are: found by
 * halving, as though more of them were never worse.
 *
 * @throws ModelError where pruning exceeds it, or where not even leaving out all layers but one holds it
 */
export async function meetMaxError(context: TrialContext, max_error: number | null): Promise<AcceptedTrial> {
  const first = await runTrial(context, []);
  if (max_error === null) return { final: first, excluded: [], notes: [], warnings: [] };
  requireComparable(first, max_error);
  const worst = worstError(first.compare);
  if (worst.error <= max_error) return { final: first, excluded: [], notes: [], warnings: [] };
  const said = `The output ${JSON.stringify(worst.name)} has a relative error of ${percent(worst.error)}, above max_error ${max_error}`;
  const { request, say } = context.optimization;
  if (request.operation === 'prune') throw new ModelError(`${said}; ask for a lower compression.`);
  say(`${said}: measuring which layers cause it.`);
  const ranked = await measureSensitivity(context, first);
  let [tooFew, enough] = [0, ranked.length];
  let [final, last]: (Trial | undefined)[] = [];
  for (let count = 1; enough - tooFew > 1; ) {
    const layers = ranked.slice(0, count).map(({ layer }) => layer);
    const tried = await runTrial(context, layers);
    last = tried;
    const { error } = worstError(tried.compare);
    say(`Without ${count} of ${ranked.length} layers the largest error is ${percent(error)}.`);
    if (error <= max_error) [enough, final] = [count, tried];
    else tooFew = count;
    // Doubled until one suffices, then halved.
    count = final === undefined ? Math.min(count * 2, enough - 1) : Math.floor((tooFew + enough) / 2);
    if (count <= tooFew || count >= enough) break;
  }
  if (final === undefined)
    throw new ModelError(`${said}, also with all its layers but one left as they are.`);
  return {
    // The folder holds what was tried last.
    final: last === final ? final : await runTrial(context, final.excluded),
    excluded: ranked.slice(0, enough),
    warnings: leftOut(enough, ranked.length, max_error),
    notes: [`${enough} of ${ranked.length} layers stay as they were, so that max_error ${max_error} holds.`],
  };
}
