/** A point of a curve, with its index among all points. */
export interface CurvePoint {
  x: number;
  y: number;
  index: number;
  /** Step; NaN if unknown. */
  step: number;
  /** Epoch milliseconds. */
  time: number;
}

/**
 * Lowest and highest point of a bucket; a NaN point if the bucket has no other. The bucket owns both objects and
 * overwrites them. On a falling curve every point is the lowest, so new objects would be garbage.
 */
interface Bucket {
  low: CurvePoint;
  high: CurvePoint;
}

/**
 * Thin out a curve while its points arrive, in any order and in bounded memory. Keep all points up to `most`.
 * Beyond that, keep the first and the last by x, and the lowest and the highest of each bucket. The width of the
 * buckets is a power of two. It doubles when there are too many buckets, so no minimum or maximum is lost.
 */
export class CurveBuckets {
  readonly #most: number;
  #all: CurvePoint[] | undefined = [];
  readonly #buckets = new Map<number, Bucket>();
  #width = 1;
  #first: CurvePoint | undefined;
  #last: CurvePoint | undefined;
  // Consecutive points usually share a bucket, so most points need no look-up.
  #key = Number.NaN;
  #bucket: Bucket | undefined;

  /** @param most maximum number of kept points, at least 6: buckets below and above 0 never merge */
  constructor(most: number) {
    this.#most = most;
  }

  add(x: number, y: number, index: number, step: number, time: number): void {
    if (this.#all !== undefined) {
      this.#all.push({ x, y, index, step, time });
      if (this.#all.length > this.#most) this.#begin(this.#all);
      return;
    }
    const key = Math.floor(x / this.#width);
    const bucket = key === this.#key ? this.#bucket : this.#buckets.get(key);
    if (bucket === undefined) {
      this.#put({ x, y, index, step, time }, key);
      return;
    }
    this.#key = key;
    this.#bucket = bucket;
    const { low, high } = bucket;
    if (isLower(y, low.y)) overwrite(low, x, y, index, step, time);
    if (isHigher(y, high.y)) overwrite(high, x, y, index, step, time);
    const first = this.#first;
    const last = this.#last;
    if (first !== undefined && x < first.x) overwrite(first, x, y, index, step, time);
    if (last !== undefined && x >= last.x) overwrite(last, x, y, index, step, time);
  }

  get #maxBuckets(): number {
    return Math.max(2, Math.floor((this.#most - 2) / 2));
  }

  #begin(points: readonly CurvePoint[]): void {
    this.#all = undefined;
    const xs = points.map(({ x }) => x);
    const span = Math.max(...xs) - Math.min(...xs);
    if (span > 0) this.#width = 2 ** (Math.floor(Math.log2(span / this.#maxBuckets)) - 1);
    for (const point of points) this.#put(point, Math.floor(point.x / this.#width));
  }

  #put(point: CurvePoint, key: number): void {
    const own: Bucket = { low: { ...point }, high: { ...point } };
    const bucket = this.#buckets.get(key);
    if (bucket === undefined) this.#buckets.set(key, own);
    else merge(bucket, own);
    if (this.#first === undefined || point.x < this.#first.x) this.#first = { ...point };
    if (this.#last === undefined || point.x >= this.#last.x) this.#last = { ...point };
    while (this.#buckets.size > this.#maxBuckets) this.#widen();
  }

  #widen(): void {
    this.#width *= 2;
    const former = [...this.#buckets];
    this.#buckets.clear();
    this.#key = Number.NaN;
    this.#bucket = undefined;
    for (const [key, bucket] of former) {
      const wider = Math.floor(key / 2);
      const present = this.#buckets.get(wider);
      if (present === undefined) this.#buckets.set(wider, bucket);
      else merge(present, bucket);
    }
  }

  /** Return the kept points, sorted by x. */
  points(): CurvePoint[] {
    const kept = new Map<number, CurvePoint>();
    const extremes = [...this.#buckets.values()].flatMap(({ low, high }) => [low, high]);
    for (const point of [...(this.#all ?? []), this.#first, ...extremes, this.#last])
      if (point !== undefined) kept.set(point.index, point);
    return [...kept.values()].sort((a, b) => a.x - b.x || a.index - b.index);
  }
}

const isLower = (y: number, other: number): boolean => y < other || (Number.isNaN(other) && !Number.isNaN(y));

function overwrite(point: CurvePoint, x: number, y: number, index: number, step: number, time: number): void {
  point.x = x;
  point.y = y;
  point.index = index;
  point.step = step;
  point.time = time;
}

const isHigher = (y: number, other: number): boolean =>
  y > other || (Number.isNaN(other) && !Number.isNaN(y));

function merge(bucket: Bucket, { low, high }: Bucket): void {
  if (isLower(low.y, bucket.low.y)) bucket.low = low;
  if (isHigher(high.y, bucket.high.y)) bucket.high = high;
}
