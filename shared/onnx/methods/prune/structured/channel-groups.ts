import { elementCount, type Tensor } from '../../../model/tensor/tensor.ts';
import type { Labels } from './channels.ts';
import type { DependencyGraph, Producer } from './dependency-graph.ts';

/** The channels of an axis that values and constants share. */
interface Axis {
  size: number;
  /** Number of channels that cannot be removed. */
  locked: number;
}

/** A constant that loses channels, along at most two axes. Each axis loses the channels of an {@link Axis}. */
export interface CutTensor {
  tensor: Tensor;
  isWeight: boolean;
  axes: { axis: number; id: number; labels: Labels }[];
}

/** Removable sets of channels, each of which is removed as a whole, and all axes on which they lie. */
export interface ChannelGroups {
  /** Number of removable sets. Their numbers start at 0. */
  count: number;
  /** Return the number of a label's set. Undefined if the channel cannot be removed. */
  setOf(label: number): number | undefined;
  axes: Axis[];
  /** For each set, the axes of its channels. An axis occurs once for each channel of the set on it. */
  axesOfSet: number[][];
  tensors: CutTensor[];
  /** Family of each set. Sets with channels from the same layer compete in one family. */
  familyOf: Int32Array;
  producers: Producer[];
}

/** Group the removable channels of a dependency graph for the choice. */
export function channelGroups(dependencies: DependencyGraph): ChannelGroups {
  const sets = numberSets(dependencies);
  const setOf = (label: number): number | undefined => sets.get(dependencies.channels.find(label));
  const table = new AxisTable(dependencies, sets);
  const tensors = tensorsOf(dependencies, table);
  // Values between layers, for example after a Split, have their own axes. They must not become empty either.
  for (const { labels } of dependencies.carried.values()) table.id(labels);
  return {
    count: sets.size,
    setOf,
    axes: table.axes,
    axesOfSet: table.axesOfSet,
    tensors,
    familyOf: familiesOf(sets.size, dependencies.producers, setOf),
    producers: dependencies.producers,
  };
}

/** Number the removable sets in the order of their first occurrence. */
function numberSets({ channels, cuts }: DependencyGraph): Map<number, number> {
  const sets = new Map<number, number>();
  for (const { labels } of cuts) {
    for (const label of labels) {
      const root = channels.find(label);
      if (channels.lockOf(root) === undefined && !sets.has(root)) sets.set(root, sets.size);
    }
  }
  return sets;
}

/** Table of axes by content. Axes with the same channels in the same order share one entry. */
class AxisTable {
  readonly axes: Axis[] = [];
  readonly axesOfSet: number[][];
  readonly #ids = new Map<Labels, number>();
  readonly #byContent = new Map<string, number>();
  readonly #dependencies: DependencyGraph;
  readonly #sets: ReadonlyMap<number, number>;

  constructor(dependencies: DependencyGraph, sets: ReadonlyMap<number, number>) {
    this.#dependencies = dependencies;
    this.#sets = sets;
    this.axesOfSet = Array.from({ length: sets.size }, () => []);
  }

  id(labels: Labels): number {
    const known = this.#ids.get(labels);
    if (known !== undefined) return known;
    const roots = labels.map((label) => this.#dependencies.channels.find(label));
    const content = roots.join();
    const id = this.#byContent.get(content) ?? this.#add(roots);
    this.#byContent.set(content, id);
    this.#ids.set(labels, id);
    return id;
  }

  #add(roots: Labels): number {
    const id = this.axes.length;
    let locked = 0;
    for (const root of roots) {
      const set = this.#sets.get(root);
      if (set === undefined) locked += 1;
      else this.axesOfSet[set]?.push(id);
    }
    this.axes.push({ size: roots.length, locked });
    return id;
  }
}

function tensorsOf({ cuts, model }: DependencyGraph, table: AxisTable): CutTensor[] {
  const byInput = new Map<string, CutTensor>();
  for (const { node, position, axis, labels, isWeight } of cuts) {
    const tensor = model.graph.initializers.get(node.input[position] ?? '');
    if (tensor === undefined) continue;
    const key = `${node.output[0]}#${position}`;
    const found = byInput.get(key) ?? { tensor, isWeight, axes: [] };
    found.axes.push({ axis, id: table.id(labels), labels });
    byInput.set(key, found);
  }
  // If several nodes cut a constant in the same way, count it once.
  const distinct = new Map<string, CutTensor>();
  for (const cut of byInput.values()) {
    const key = `${cut.axes.map(({ axis, id }) => `${axis}:${id}`).join()} ${cut.tensor.name}`;
    const same = distinct.get(key);
    if (same === undefined) distinct.set(key, cut);
    else same.isWeight ||= cut.isWeight;
  }
  return [...distinct.values()];
}

function familiesOf(
  count: number,
  producers: readonly Producer[],
  setOf: ChannelGroups['setOf'],
): Int32Array {
  const parent = Int32Array.from({ length: count }, (_, at) => at);
  const find = (set: number): number => {
    let root = set;
    while (parent[root] !== root) {
      parent[root] = parent[parent[root] ?? root] ?? root;
      root = parent[root] ?? root;
    }
    return root;
  };
  for (const { labels } of producers) {
    let first: number | undefined;
    for (const label of labels) {
      const set = setOf(label);
      if (set === undefined) continue;
      first ??= set;
      parent[find(set)] = find(first);
    }
  }
  return parent.map((_, set) => find(set));
}

/** Count the parameters of a constant that can be removed along at least one axis, at the given axis sizes. */
export function prunableParameters(
  { tensor, axes: own }: CutTensor,
  axes: readonly Axis[],
  sizeOf: (id: number) => number,
): number {
  let [left, locked, rest] = [1, 1, elementCount(tensor.dims)];
  for (const { id } of own) {
    left *= sizeOf(id);
    locked *= axes[id]?.locked ?? 0;
    rest /= axes[id]?.size ?? 1;
  }
  return (left - locked) * rest;
}

/** Sets of channels that are removed or kept together, and their mean score. */
export interface Bundle {
  sets: number[];
  score: number;
}

/** Bundle all sets, lowest score first. The bundles leave multiples of a block size. */
export function channelBundles(groups: ChannelGroups, scores: Float64Array): Bundle[] {
  const bundles = alikeSets(groups).flatMap((alike) => {
    const sorted = alike.toSorted(byScore(scores));
    const size = blockSize(sorted.length);
    const own: Bundle[] = [];
    for (let start = 0, end = sorted.length % size || size; start < sorted.length; start = end, end += size) {
      const sets = sorted.slice(start, end);
      own.push({ sets, score: sets.reduce((sum, set) => sum + (scores[set] ?? 0), 0) / sets.length });
    }
    return own;
  });
  return bundles.sort((a, b) => a.score - b.score || (a.sets[0] ?? 0) - (b.sets[0] ?? 0));
}

/** Group sets that lie on the same axes. A set with several channels on one axis forms its own group. */
function alikeSets({ count, axesOfSet }: ChannelGroups): number[][] {
  const byAxes = new Map<string, number[]>();
  for (let set = 0; set < count; set += 1) {
    const axes = axesOfSet[set] ?? [];
    const key = new Set(axes).size === axes.length ? axes.join() : `alone ${set}`;
    const alike = byAxes.get(key);
    if (alike === undefined) byAxes.set(key, [set]);
    else alike.push(set);
  }
  return [...byAxes.values()];
}

const byScore = (scores: Float64Array) => (a: number, b: number) =>
  (scores[a] ?? 0) - (scores[b] ?? 0) || a - b;

/**
 * Preferred multiples for the number of remaining sets. ONNX Runtime computes convolutions in blocks of 8 or 16
 * channels, the width of the processor's registers. It does not use blocks if the channels of a grouped
 * convolution do not fill them. Matrix products also profit from whole registers.
 */
const blockSizes = [16, 8, 4];

/** Minimum number of bundles of a group of channels. */
const minBundles = 4;

/** Return the number of sets per bundle, which the remaining number of sets is a multiple of. */
const blockSize = (count: number): number => blockSizes.find((size) => size * minBundles <= count) ?? 1;

/** Return one bundle for each of these sets, lowest score first. */
export const singleBundles = (sets: readonly number[], scores: Float64Array): Bundle[] =>
  sets.toSorted(byScore(scores)).map((set) => ({ sets: [set], score: scores[set] ?? 0 }));
