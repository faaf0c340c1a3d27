/**
 * Compare the vectors of a set by two models: the share of them whose nearest neighbour by the cosine is the same in both (recall at
 * 1), and the mean cosine of the two vectors of each sample. A neighbour that is as near as the nearest one counts, too: sets have
 * texts twice, and models without training give all texts nearly one vector. A vector with NaN or an infinite number has no
 * neighbour, so it is not the same.
 */
export function sameNeighbours(
  before: readonly Float64Array[],
  after: readonly Float64Array[],
): { share: number; cosine: number | null } {
  const [units, others] = [before.map(unit), after.map(unit)];
  const [nearestBefore, nearestAfter] = [nearestOfAll(units), nearestOfAll(others)];
  let same = 0;
  let cosines = 0;
  for (const [index, vector] of units.entries()) {
    const [nearest, chosen] = [nearestBefore[index], nearestAfter[index]];
    if (nearest !== undefined && chosen !== undefined) {
      const near = dot(vector, units[chosen]);
      if (chosen === nearest || near >= dot(vector, units[nearest]) - tie) same += 1;
    }
    cosines += dot(vector, others[index]);
  }
  const cosine = cosines / units.length;
  return { share: same / units.length, cosine: Number.isFinite(cosine) ? cosine : null };
}

/**
 * The vectors of a model, among which the vectors of its result look for their nearest neighbours while the result's own ones are not
 * all known.
 */
export class KnownNeighbours {
  readonly #units: readonly Float64Array[];

  constructor(vectors: readonly Float64Array[]) {
    this.#units = vectors.map(unit);
  }

  /** Whether the nearest neighbour of the result's vector at an index is farther from the model's vector than that one's nearest. */
  isLost(index: number, after: Float64Array): boolean {
    const before = this.#units[index];
    const [nearest, chosen] = [nearestOf(this.#units, index), nearestOf(this.#units, index, unit(after))];
    if (before === undefined || nearest === undefined || chosen === undefined) return true;
    return dot(before, this.#units[chosen]) < dot(before, this.#units[nearest]) - tie;
  }
}

/** Difference of cosines of which nobody says which is nearer: rounding of half precision is as large. */
const tie = 1e-3;

/** The index of the vector nearest to the one at an index; undefined if that one, or each other one, has no numbers. */
function nearestOf(units: readonly Float64Array[], index: number, vector = units[index]): number | undefined {
  let best: number | undefined;
  let most = Number.NEGATIVE_INFINITY;
  for (const [other, candidate] of units.entries()) {
    if (other === index) continue;
    const near = dot(vector, candidate);
    if (near > most) [best, most] = [other, near];
  }
  return best;
}

/** For each vector the index of the nearest other one, the first of equals. The cosine of two vectors is computed once for both. */
function nearestOfAll(units: readonly Float64Array[]): (number | undefined)[] {
  const best: (number | undefined)[] = units.map(() => undefined);
  const most = new Float64Array(units.length).fill(Number.NEGATIVE_INFINITY);
  const take = (index: number, other: number, near: number): void => {
    if (near > (most[index] ?? Number.NaN)) [best[index], most[index]] = [other, near];
  };
  for (const [other, candidate] of units.entries())
    for (let index = 0; index < other; index += 1) {
      const near = dot(candidate, units[index]);
      take(other, index, near);
      take(index, other, near);
    }
  return best;
}

function unit(vector: Float64Array): Float64Array {
  const length = Math.sqrt(dot(vector, vector));
  return vector.map((value) => value / Math.max(length, Number.MIN_VALUE));
}

const none: Float64Array = new Float64Array();

function dot(a = none, b = none): number {
  let sum = 0;
  // Optional chaining in this loop takes nine times as long.
  for (let at = 0; at < a.length; at += 1) sum += (a[at] ?? 0) * (b[at] ?? 0);
  return sum;
}
