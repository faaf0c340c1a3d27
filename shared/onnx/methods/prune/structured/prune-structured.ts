import type { Model } from '../../../model/file/model.ts';
import { unfoldEinsum } from '../../../model/graph/unfold-einsum.ts';
import { ModelError } from '../../../model/model-error.ts';
import type { PruneRequest } from '../../../strategies/prune-request.ts';
import type { CalibrationStatistics } from '../../calibrate/statistics-file.ts';
import type { PrunedGroup } from '../../report/pruning-outcome.ts';
import type { TransformReport } from '../../report/report.ts';
import { weightsInBodies } from '../../report/weights-in-bodies.ts';
import { floatParameters, layerName, recordNoChange, recordOutcome } from '../outcome.ts';
import { preparePruning } from '../prepare-pruning.ts';
import { type Consumer, consumersOf } from '../reconstruct/channel-rows.ts';
import { foldKept } from '../reconstruct/fold-kept.ts';
import { predictionScores } from '../reconstruct/prediction-scores.ts';
import { buildDependencyGraph } from './build-dependency-graph.ts';
import { type ChannelGroups, channelGroups } from './channel-groups.ts';
import { type Choice, channelScores, chooseChannels, type StructuredStrategy } from './choose-channels.ts';
import { foldConstantChannels } from './constant-channels.ts';
import type { DependencyGraph, Remaining } from './dependency-graph.ts';
import { remainingOf, removeChannels } from './remove-channels.ts';

type StructuredRequest = Pick<PruneRequest, 'compression' | 'exclude' | 'seed'> &
  (
    | { strategy: StructuredStrategy }
    | { strategy: 'structured_reconstruct'; allocation: PruneRequest['allocation'] }
  );

/**
 * Remove whole channels, neurons and attention heads until the parameters in prunable groups are at most
 * 1/compression of the original. The strategy removes the channels with the smallest norm (`structured_l1`,
 * `structured_l2`), those that the others predict best (`structured_reconstruct`), or random ones (`random`). A
 * group is all channels that can only be removed together. Nodes of unknown operators are kept and reported. The
 * result equals the model with the group's slices zeroed in every weight that uses them. Reconstruction updates
 * these weights first, by the statistics of their inputs.
 *
 * @throws ModelError if nothing can be removed, or the compression is out of reach
 */
export function pruneStructured(
  model: Model,
  request: StructuredRequest,
  report: TransformReport,
  statistics: CalibrationStatistics = new Map(),
): void {
  const { compression, exclude } = request;
  const modelBefore = floatParameters(model.graph);
  if (compression > 1) {
    unfoldEinsum(model.graph, exclude);
    preparePruning(model, exclude);
  }
  const dependencies = buildDependencyGraph(model, exclude);
  const groups = channelGroups(dependencies);
  reportLocks(dependencies, report);
  if (compression === 1) {
    const { before } = chooseChannels(groups, new Float64Array(groups.count), 1);
    recordNoChange(report, request, before, modelBefore);
    return;
  }
  if (groups.count === 0) refuseEmpty(model, report);
  const consumers = request.strategy === 'structured_reconstruct' ? consumersOf(dependencies) : [];
  const choice = chooseChannels(groups, scoresOf(groups, consumers, statistics, request), compression);
  const isRemoved = (label: number): boolean => choice.removed[groups.setOf(label) ?? -1] === 1;
  const remaining = remainingOf(isRemoved);
  const pruned = prunedGroups(groups, remaining);
  refuseOutOfReach(compression, choice, pruned);
  const folded = foldKept(dependencies, consumers, statistics, isRemoved);
  reportFolds(consumers, folded, isRemoved, statistics, report);
  const cuts = new Set([...folded].map(({ cut }) => cut));
  for (const layer of foldConstantChannels(dependencies, isRemoved, (cut) => cuts.has(cut)))
    report.warnings.push(
      `Constants were folded into the bias of ${layer}, which pads its input, so they are inexact at the edges.`,
    );
  report.layers.push(...removeChannels(dependencies, remaining));
  const modelAfter = floatParameters(model.graph);
  recordOutcome(report, request, { ...choice, modelBefore, modelAfter }, pruned);
}

/** Maximum number of layers that a reason names. */
const maxNamed = 3;

/** Report the layers that must keep channels, by the reason. */
function reportLocks({ producers, channels }: DependencyGraph, report: TransformReport): void {
  const byReason = new Map<string, string[]>();
  for (const { node, labels } of producers) {
    const reasons = [...labels].map((label) => channels.lockOf(label)).filter((why) => why !== undefined);
    const [first] = reasons;
    if (first === undefined) continue;
    const part = reasons.length === labels.length ? 'all' : `${reasons.length} of`;
    const known = byReason.get(first) ?? [];
    known.push(`${part} ${labels.length} output channels of ${layerName(node)}`);
    byReason.set(first, known);
  }
  for (const [why, parts] of byReason) {
    const more = parts.length > maxNamed ? ` and of ${parts.length - maxNamed} more layers` : '';
    report.keep(`${parts.slice(0, maxNamed).join(', ')}${more}`, why);
  }
}

function refuseEmpty({ graph }: Model, report: TransformReport): never {
  const why = report.kept.slice(0, 3).map((kept) => `${kept.what}: ${kept.why}`);
  throw new ModelError(
    `The model has no channels that can be removed${why.length > 0 ? ` (${why.join('; ')})` : ''}.${weightsInBodies(graph)}`,
  );
}

/** Score each set of channels by the request's strategy. */
function scoresOf(
  groups: ChannelGroups,
  consumers: readonly Consumer[],
  statistics: CalibrationStatistics,
  request: StructuredRequest,
): Float64Array {
  if (request.strategy !== 'structured_reconstruct')
    return channelScores(groups, request.strategy, request.seed);
  const byNorm = channelScores(groups, 'structured_l2', request.seed);
  return predictionScores(groups, consumers, statistics, request.allocation, byNorm);
}

/**
 * Return the groups of layers whose channels competed, and the number of remaining channels in the widest layer of
 * each group.
 */
function prunedGroups({ producers, setOf, familyOf }: ChannelGroups, remaining: Remaining): PrunedGroup[] {
  const groups = new Map<number, PrunedGroup>();
  for (const { node, labels } of producers) {
    const set = [...labels].map(setOf).find((found) => found !== undefined);
    if (set === undefined) continue;
    const family = familyOf[set] ?? set;
    const group = groups.get(family) ?? { layers: [], channels_before: 0, channels_after: 0 };
    group.layers.push(layerName(node));
    if (labels.length > group.channels_before) {
      group.channels_before = labels.length;
      group.channels_after = remaining.count(labels);
    }
    groups.set(family, group);
  }
  return [...groups.values()];
}

/**
 * Refuse an unreachable compression. Name the largest reachable one, and the groups that then keep most channels.
 */
function refuseOutOfReach(compression: number, { before, after }: Choice, groups: PrunedGroup[]): void {
  if (after * compression <= before) return;
  const reachable = Math.max(1, Math.floor(before / after));
  const held = groups
    .toSorted((a, b) => b.channels_after - a.channels_after || b.channels_before - a.channels_before)
    .slice(0, 3)
    .map((group) => {
      const more = group.layers.length > 1 ? ` and ${group.layers.length - 1} more` : '';
      return `${group.layers[0]}${more} (${group.channels_after} of ${group.channels_before} channels left)`;
    });
  throw new ModelError(
    `A compression of ${compression} cannot be reached; the maximum is ${reachable}: every group keeps at least one channel. The limiting groups are ${held.join(', ')}.`,
  );
}

/**
 * Minimum number of calibration values per channel, as a multiple of the layer's channels. With fewer values the
 * prediction may overfit.
 */
const minRows = 2;

/** Report the layers without compensation for removed channels, and predictions from few values. */
function reportFolds(
  consumers: readonly Consumer[],
  folded: ReadonlySet<Consumer>,
  isRemoved: (label: number) => boolean,
  statistics: CalibrationStatistics,
  report: TransformReport,
): void {
  const scarce = [...folded].filter(
    ({ input, labels }) => (statistics.get(input)?.rows ?? 0) < minRows * labels.length,
  );
  const [first] = scarce;
  if (first !== undefined) {
    const rows = statistics.get(first.input)?.rows ?? 0;
    report.warnings.push(
      `THE CALIBRATION SET IS SMALL: it has ${rows} values for each of the ${first.labels.length} input channels of ${layerName(first.node)}${scarce.length > 1 ? `, and ${scarce.length - 1} other layers have as few` : ''}. Measure the accuracy on other data, or give ${minRows} for each channel.`,
    );
  }
  for (const consumer of consumers) {
    if (folded.has(consumer) || !consumer.labels.some(isRemoved)) continue;
    report.keep(
      `the weights left in ${layerName(consumer.node)}`,
      consumer.isAlone
        ? 'calibration has no finite values of its channels'
        : 'its weight is shared with other layers',
    );
  }
}
