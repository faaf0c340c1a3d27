import { seeded } from '../../../../../shared/sweeps/sampling/seeded.ts';

/** What a forest learns from: values by column, NaN where a row has none, and what came out of each row. */
export interface ForestRows {
  columns: readonly Float64Array[];
  target: Float64Array;
}

/** Result of {@link permutationImportance}. */
export interface Importance {
  /** Share of each column, from 0 to 1. The sum is 1, or 0 if no column matters. */
  shares: readonly number[];
  /** Share of the target's variance that the forest explains on rows that it has not seen (R²); at most 1. */
  explained: number;
}

const trees = 100;
const minLeaf = 2;
const maxDepth = 20;

/**
 * Return how much each column matters for the target, by a random forest of regression trees (Breiman, "Random
 * Forests", 2001): how much its error on rows that a tree has not seen grows when the values of a column are shuffled
 * among them. The same rows always give the same result.
 *
 * It takes about `100 · rows · columns · depth` steps.
 */
export function permutationImportance({ columns, target }: ForestRows): Importance {
  const random = seeded('importance', columns.length, target.length);
  const filled = columns.map(filledColumn);
  const orders = filled.map(orderOf);
  const size = target.length;
  const growth = columns.map(() => 0);
  const sums = new Float64Array(size);
  const votes = new Float64Array(size);
  for (let tree = 0; tree < trees; tree += 1) {
    const weights = new Uint16Array(size);
    for (let drawn = 0; drawn < size; drawn += 1) {
      const row = Math.floor(random() * size);
      weights[row] = at(weights, row) + 1;
    }
    const grown = growTree(filled, orders, target, weights);
    const unseen = [...weights.keys()].filter((row) => at(weights, row) === 0);
    const errorBy = (readValue: (column: number, row: number) => number, note?: Float64Array): number => {
      let error = 0;
      for (const row of unseen) {
        const predicted = predict(grown, (column) => readValue(column, row));
        if (note !== undefined) note[row] = at(note, row) + predicted;
        error += (predicted - at(target, row)) ** 2;
      }
      return error;
    };
    const plain = (column: number, row: number): number => at(filled[column], row);
    const error = errorBy(plain, sums);
    for (const row of unseen) votes[row] = at(votes, row) + 1;
    for (const column of new Set(grown.column.filter((one) => one >= 0))) {
      const other = shuffledRows(unseen, size, random);
      const shuffledError = errorBy((one, row) => plain(one, one === column ? at(other, row) : row));
      growth[column] = (growth[column] ?? 0) + shuffledError - error;
    }
  }
  const total = growth.reduce((sum, value) => sum + Math.max(0, value), 0);
  return {
    shares: growth.map((value) => (total === 0 ? 0 : Math.max(0, value) / total)),
    explained: explainedShare(target, sums, votes),
  };
}

/** A grown tree by node: its column, or -1 for a leaf; where to go for values up to the bound and above; its value. */
interface Tree {
  column: number[];
  bound: number[];
  below: number[];
  above: number[];
  value: number[];
}

/** Rows of a node: from `start` to before `end` in the order of each column. */
interface Part {
  node: number;
  start: number;
  end: number;
  depth: number;
}

interface Split {
  column: number;
  bound: number;
  gain: number;
}

/** Grow a tree on the rows with a weight. */
function growTree(
  columns: readonly Float64Array[],
  orders: readonly Int32Array[],
  target: Float64Array,
  weights: Uint16Array,
): Tree {
  // Rows in the order of each column. A split keeps that order on both sides, so nothing is sorted again.
  const sorted = orders.map((order) => order.filter((row) => at(weights, row) > 0));
  const isBelow = new Uint8Array(target.length);
  const spare = new Int32Array(target.length);
  const tree: Tree = { column: [], bound: [], below: [], above: [], value: [] };
  const add = (): number => {
    tree.bound.push(0);
    tree.below.push(-1);
    tree.above.push(-1);
    tree.value.push(0);
    return tree.column.push(-1) - 1;
  };
  const open: Part[] = [{ node: add(), start: 0, end: sorted[0]?.length ?? 0, depth: 0 }];
  for (let part = open.pop(); part !== undefined; part = open.pop()) {
    const { node, start, end, depth } = part;
    const { sum, count } = totals(sorted[0], start, end, target, weights);
    tree.value[node] = sum / count;
    if (depth >= maxDepth || count < 2 * minLeaf) continue;
    let best: Split | undefined;
    for (const [column, rows] of sorted.entries()) {
      const split = bestSplit(columns[column], rows, part, { target, weights, sum, count });
      if (split !== undefined && split.gain > (best?.gain ?? 1e-12)) best = { ...split, column };
    }
    if (best === undefined) continue;
    const { column, bound } = best;
    let middle = start;
    for (let place = start; place < end; place += 1) {
      const row = at(sorted[column], place);
      const isLow = at(columns[column], row) <= bound;
      isBelow[row] = isLow ? 1 : 0;
      middle += isLow ? 1 : 0;
    }
    for (const rows of sorted) divide(rows, start, end, isBelow, spare);
    const [below, above] = [add(), add()];
    tree.column[node] = column;
    tree.bound[node] = bound;
    tree.below[node] = below;
    tree.above[node] = above;
    open.push({ node: below, start, end: middle, depth: depth + 1 });
    open.push({ node: above, start: middle, end, depth: depth + 1 });
  }
  return tree;
}

function totals(
  rows: Int32Array | undefined,
  start: number,
  end: number,
  target: Float64Array,
  weights: Uint16Array,
): { sum: number; count: number } {
  let [sum, count] = [0, 0];
  for (let place = start; place < end; place += 1) {
    const row = at(rows, place);
    count += at(weights, row);
    sum += at(weights, row) * at(target, row);
  }
  return { sum, count };
}

/** Return the bound between two values that lowers the variance of both sides most. */
function bestSplit(
  values: Float64Array | undefined,
  rows: Int32Array,
  { start, end }: Part,
  { target, weights, sum, count }: { target: Float64Array; weights: Uint16Array; sum: number; count: number },
): Omit<Split, 'column'> | undefined {
  let best: Omit<Split, 'column'> | undefined;
  let [lowSum, lowCount] = [0, 0];
  const before = sum ** 2 / count;
  for (let place = start; place < end - 1; place += 1) {
    const row = at(rows, place);
    lowCount += at(weights, row);
    lowSum += at(weights, row) * at(target, row);
    const value = at(values, row);
    const next = at(values, at(rows, place + 1));
    if (value === next || lowCount < minLeaf) continue;
    const highCount = count - lowCount;
    if (highCount < minLeaf) break;
    const gain = lowSum ** 2 / lowCount + (sum - lowSum) ** 2 / highCount - before;
    if (gain > (best?.gain ?? 0)) best = { bound: value + (next - value) / 2, gain };
  }
  return best;
}

/** Move the rows below a bound before the others, each side in its order. */
function divide(rows: Int32Array, start: number, end: number, isBelow: Uint8Array, spare: Int32Array): void {
  let [low, high] = [start, 0];
  for (let place = start; place < end; place += 1) {
    const row = at(rows, place);
    if (at(isBelow, row) === 1) {
      rows[low] = row;
      low += 1;
    } else {
      spare[high] = row;
      high += 1;
    }
  }
  rows.set(spare.subarray(0, high), low);
}

function predict(
  { column, bound, below, above, value }: Tree,
  readValue: (column: number) => number,
): number {
  let node = 0;
  for (let by = column[node] ?? -1; by >= 0; by = column[node] ?? -1)
    node = (readValue(by) <= (bound[node] ?? 0) ? below[node] : above[node]) ?? 0;
  return value[node] ?? 0;
}

/** Return for each of these rows another of them, each once. */
function shuffledRows(rows: readonly number[], size: number, random: () => number): Int32Array {
  const mixed = [...rows];
  for (let last = mixed.length - 1; last > 0; last -= 1) {
    const other = Math.floor(random() * (last + 1));
    [mixed[last], mixed[other]] = [mixed[other] ?? 0, mixed[last] ?? 0];
  }
  const found = new Int32Array(size);
  for (const [index, row] of rows.entries()) found[row] = mixed[index] ?? row;
  return found;
}

function explainedShare(target: Float64Array, sums: Float64Array, votes: Float64Array): number {
  const rows = [...target.keys()].filter((row) => at(votes, row) > 0);
  const mean = rows.reduce((sum, row) => sum + at(target, row), 0) / rows.length;
  let [error, spread] = [0, 0];
  for (const row of rows) {
    error += (at(target, row) - at(sums, row) / at(votes, row)) ** 2;
    spread += (at(target, row) - mean) ** 2;
  }
  return spread === 0 ? 0 : 1 - error / spread;
}

/** Rows without a value are on a side of their own, below all others. */
function filledColumn(values: Float64Array): Float64Array {
  const given = values.filter((value) => !Number.isNaN(value));
  const low = given.reduce((least, value) => Math.min(least, value), Number.POSITIVE_INFINITY);
  const high = given.reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY);
  const blank = given.length === 0 ? 0 : low - (high - low || 1);
  return values.map((value) => (Number.isNaN(value) ? blank : value));
}

const orderOf = (values: Float64Array): Int32Array =>
  Int32Array.from(values.keys()).sort((a, b) => at(values, a) - at(values, b));

/** Within its bounds an array has a number everywhere. */
const at = (values: ArrayLike<number> | undefined, index: number): number => values?.[index] ?? 0;
