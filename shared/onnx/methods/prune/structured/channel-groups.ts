import { elementCount, type Tensor } from '../../../model/tensor/tensor.ts';
import type { Labels } from './channels.ts';
import type { DependencyGraph, Producer } from './dependency-graph.ts';

/** Channels of an axis of values and constants, as many sets as there are different ones. */
interface Axis {
  size: number;
  /** How many of the channels have to stay. */
  locked: number;
}

/** A constant as it will be cut: by two axes at most, each losing the channels of an {@link Axis}. */
export interface CutTensor {
  tensor: Tensor;
  isWeight: boolean;
  axes: { axis: number; id: number; labels: Labels }[];
}

/** Sets of channels that can be removed, each as a whole, and all axes on which they lie. */
export interface ChannelGroups {
  /** Number of removable sets; they are numbered from 0. */
  count: number;
  /** Number of the set of a label; undefined where it has to stay. */
  setOf(label: number): number | undefined;
  axes: Axis[];
  /** For each set the axes that it lies on, an axis as often as it has channels there. */
  axesOfSet: number[][];
  tensors: CutTensor[];
  /** Sets that are chosen among each other: those that the same layers make. A number for each set. */
  familyOf: Int32Array;
  producers: Producer[];
}

/** The removable channels of a dependency graph, grouped to choose from. */
export function channelGroups(dependencies: DependencyGraph): ChannelGroups {
  const sets = numberSets(dependencies);
  const setOf = (label: number): number | undefined => sets.get(dependencies.channels.find(label));
  const table = new AxisTable(dependencies, sets);
  const tensors = tensorsOf(dependencies, table);
  // Values between the layers have axes of their own, as after Split: they must not become empty either.
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

/** Numbers the removable sets in the order in which they are met. */
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

/** Axes by what lies on them, so that those with the same channels in the same order are one. */
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
  // The same constant cut in the same way by several nodes is one.
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

/** Parameters of a constant of which at least one axis may lose them, when the axes have these sizes. */
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

/** Sets of channels that are removed or kept at once, and their mean score. */
export interface Bundle {
  sets: number[];
  score: number;
}

/** All sets in bundles that leave multiples of a block, from the lowest score to the highest. */
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

/** Sets that lie on the same axes, by these axes. Those with several channels on one axis are alone. */
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
 * ONNX Runtime computes convolutions in blocks of 8 or 16 channels, as wide as the processor's registers, and gives up
 * on blocks where a grouped convolution's channels do not fill them; products of matrices like whole registers, too.
 */
const blockSizes = [16, 8, 4];

/** A group of channels is divided into at least so many bundles. */
const minBundles = 4;

/** How many sets go at once, so that what is left of `count` is a multiple. */
const blockSize = (count: number): number => blockSizes.find((size) => size * minBundles <= count) ?? 1;

/** Each of these sets for itself, from the lowest score to the highest. */
export const singleBundles = (sets: readonly number[], scores: Float64Array): Bundle[] =>
  sets.toSorted(byScore(scores)).map((set) => ({ sets: [set], score: scores[set] ?? 0 }));
