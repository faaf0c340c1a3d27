import type { StageAnswer } from '../../measure/session/stage-answers.ts';
import { hardware } from '../../receipt/hardware.ts';
import { isLarger, type Receipt } from '../../receipt/receipt.ts';
import { targetLine, timeLine } from '../../receipt/speed-sentence.ts';
import { needsRanges } from '../../strategies/optimization-request.ts';
import { targetFacts } from '../../strategies/target.ts';
import type { AcceptedTrial } from './meet-max-error.ts';
import type { Optimization } from './optimization.ts';
import { extents, seedsOf } from './plan-feeds.ts';
import type { Trial } from './run-trial.ts';
import { agreementLine, remediesFor, suggestionsFor, uselessLine, uselessness } from './suggestions.ts';

/** Maximum number of layers in a receipt. Owners of larger models seldom read single layers. */
const maxLayers = 5000;

/** Maximum number of operators and outputs in a receipt. */
const maxKinds = 500;

/** Assemble a receipt. */
export function assembleReceipt(findings: Findings): Receipt {
  const { optimization, before, after, size, accepted, calibrated, times, check, stages } = findings;
  const { request } = optimization;
  const { transform, compare } = accepted.final;
  const runtime = compare?.runtime ?? check?.runtime ?? '';
  const machine = hardware();
  const outcome = {
    request,
    compare,
    hasCalibration: optimization.calibration !== undefined,
    hasEvaluation: optimization.evaluation !== undefined,
    operators: before.operators,
    opset: after.opsets['ai.onnx'] ?? 0,
    layers: transform.layers,
    latency: times.latency,
  };
  const useless = uselessness(compare);
  const agreed = agreementLine(compare);
  const madeFor = targetLine({ request: { ...request }, hardware: machine }, times.latency !== null);
  const seeds = seedsOf(request.seed);
  return {
    receipt_version: 1,
    summary: lines([
      ...largerLine(findings),
      ...(useless === undefined ? [] : [uselessLine(useless, remediesFor(outcome))]),
      timeLine({ latency: times.latency, hardware: machine }, untimed(findings)),
      ...(madeFor === undefined ? [] : [madeFor]),
      ...(agreed === undefined ? [] : [agreed]),
    ]),
    is_useless: useless !== undefined,
    operation: request.operation,
    strategy: request.strategy,
    request: { ...request },
    measure: request.measure,
    ...size,
    parameters: { before: before.parameters, after: after.parameters },
    nonzero_parameters: { before: before.nonzero_parameters, after: after.nonzero_parameters },
    pruning: transform.pruning,
    operators: { before: counts(before.operators), after: counts(after.operators) },
    opsets: { before: before.opsets, after: after.opsets },
    layers: layersOf(accepted.final),
    layers_omitted: Math.max(0, transform.layers.length - maxLayers),
    kept: keptOf(findings),
    notes: lines([
      ...before.notes,
      ...transform.notes,
      ...accepted.notes,
      ...new Set([...(calibrated?.notes ?? []), ...(compare?.notes ?? [])]),
      ...findings.notes,
    ]),
    suggestions: suggestionsFor(outcome),
    warnings: lines([
      ...findings.warnings,
      ...accepted.warnings,
      ...warningsOf(findings),
      ...transform.warnings,
    ]),
    run_as_whole: compare !== null,
    outputs: (compare?.outputs ?? []).slice(0, maxKinds).map((one) => ({ ...one, name: clipped(one.name) })),
    checked_layers: check?.layers ?? [],
    compared_on: compare?.data ?? null,
    calibrated_on: calibrated?.data ?? null,
    accuracy: compare?.accuracy ?? null,
    agreement: compare?.agreement ?? null,
    ...times,
    candidates: findings.tried.slice(0, maxKinds),
    excluded_by_error: accepted.excluded,
    stages,
    onnx_runtime: { measured_with: runtime, needed: after.needs_runtime ?? runtime },
    seeds: { request: request.seed, ...seeds },
    hardware: machine,
  };
}

/** Results of the stages of an optimization. */
export interface Findings {
  optimization: Optimization;
  before: StageAnswer<'read'>;
  after: StageAnswer<'read'>;
  size: StageAnswer<'size'>;
  accepted: AcceptedTrial;
  calibrated: StageAnswer<'calibrate'> | null;
  times: StageAnswer<'time'>;
  /** Reason why nothing was timed although `measure` requests it. */
  why_untimed: string | undefined;
  /** Candidates that `auto` tried. */
  tried: Receipt['candidates'];
  check: StageAnswer<'check'> | null;
  notes: readonly string[];
  /** Warnings about the run itself. */
  warnings: readonly string[];
  stages: Receipt['stages'];
}

/** Maximum number of entries per kind of kept layer. */
const maxLines = 2000;

const lines = (texts: readonly string[]): string[] => texts.slice(0, maxLines).map(clipped);

/** Maximum number of characters of a name or sentence in a receipt. A model may use names of any length. */
const longest = 400;

const clipped = (text: string): string => (text.length > longest ? `${text.slice(0, longest)}…` : text);

/** Return the reason why nothing was timed; undefined if it was timed. */
function untimed({ optimization, times, why_untimed }: Findings): string | undefined {
  if (times.latency !== null) return undefined;
  return optimization.request.measure === 'none' ? 'measure is none' : why_untimed;
}

/** The most frequent names with their counts. */
const counts = (all: Readonly<Record<string, number>>): Record<string, number> =>
  Object.fromEntries(
    Object.entries(all)
      .sort(([, a], [, b]) => b - a)
      .slice(0, maxKinds)
      .map(([name, count]) => [clipped(name), count]),
  );

const layersOf = ({ transform }: Trial): Receipt['layers'] =>
  transform.layers.slice(0, maxLayers).map((layer) => ({
    ...layer,
    layer: clipped(layer.layer),
    operator: clipped(layer.operator),
    weight: clipped(layer.weight),
    sparsity_before: sparsity(layer.nonzero_before, layer.parameters_before),
    sparsity_after: sparsity(layer.nonzero_after, layer.parameters_after),
  }));

const sparsity = (nonzero: number | null, parameters: number): number | null =>
  nonzero === null || parameters === 0 ? null : 1 - nonzero / parameters;

/**
 * Return the kept layers. A layer that the search for `max_error` left out does not count as excluded by the
 * caller.
 */
function keptOf({ optimization, accepted }: Findings): Receipt['kept'] {
  const byError = new Set(accepted.excluded.map(({ layer }) => layer));
  const { exclude } = optimization.request;
  return accepted.final.transform.kept.slice(0, maxLines).map(({ what, why }) => ({
    what: clipped(what),
    why:
      byError.has(what) && !exclude.includes(what) ? 'its quantization would exceed max_error' : clipped(why),
  }));
}

/** State that a file is larger than its source, with the reason. Empty if it is not. */
function largerLine({ before, size: { file_bytes } }: Findings): string[] {
  if (!isLarger({ file_bytes })) return [];
  const said = `THE FILE IS LARGER than the model's: ${file_bytes.after} bytes, before ${file_bytes.before}.`;
  // A constant that nodes of the source compute from a shape takes no space in its file.
  return before.weight_bytes <= file_bytes.before
    ? [said]
    : [`${said} The model computes constants in nodes, and the result stores their values.`];
}

/** Warnings about the result in addition to those of its method. */
function warningsOf({ optimization, before, accepted, calibrated, check }: Findings): string[] {
  const { request, calibration } = optimization;
  const { flags, architecture } = hardware();
  const warnings: string[] = [];
  if (calibrated?.data.source === 'synthetic') {
    warnings.push(
      'NO CALIBRATION SET: the ranges of activations come from generated inputs. Do not trust the accuracy of this result; give a calibration set.',
    );
  }
  if (check !== null) {
    const isQuick = before.weight_bytes > extents[request.measure].wholeBytes;
    warnings.push(
      isQuick
        ? 'Not run as a whole: a quick receipt checks models above 1 GiB layer by layer; measure=full runs them.'
        : 'Not run as a whole: the model is too large to run on this machine.',
    );
  }
  if (accepted.final.compare?.data.source === 'synthetic') {
    warnings.push('The outputs were compared on generated inputs; their error on real data may differ.');
  }
  if (
    accepted.final.compare?.data.source === 'calibration' &&
    calibration !== undefined &&
    calibrated !== null
  ) {
    warnings.push(
      'The outputs were compared on the calibration set itself; give an evaluation set of other data.',
    );
  }
  const hasVnni = flags.some((flag) => flag.endsWith('vnni'));
  const isSigned8 =
    request.operation === 'quantize' && (request.strategy === 'dynamic' || needsRanges(request));
  // On these targets the accumulation does not saturate.
  const isSafe = request.operation === 'quantize' && targetFacts(request.for)?.saturates === false;
  if (isSigned8 && !isSafe && !request.reduce_range && architecture === 'x64' && hasVnni) {
    warnings.push(
      'Measured with VNNI. On processors without VNNI, sums of 8-bit products can saturate and lose accuracy; quantize with reduce_range for those.',
    );
  }
  for (const { name, why } of accepted.final.compare?.outputs ?? []) {
    if (why !== null) warnings.push(`The output ${JSON.stringify(name)} ${why}.`);
  }
  warnings.push(...(accepted.final.compare?.warnings ?? []));
  return warnings;
}
