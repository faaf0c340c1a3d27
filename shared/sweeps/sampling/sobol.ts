import { hash32 } from './hash.ts';
import { sobolDirections } from './sobol-directions.ts';

/**
 * Return one coordinate of a point of Sobol's sequence, scrambled by Owen's nested uniform permutations. It lies in
 * (0, 1). Coordinates of the same point and seed in other dimensions make the point.
 *
 * The scrambling keeps the balance of the sequence: of the first 2^k points exactly one lies in each interval of
 * length 2^-k of each dimension. It keeps the first point, which is 0 without it (Owen, On dropping the first
 * Sobol' point, 2020).
 *
 * @param dimension from 0, below 100
 * @param key what the permutations depend on, such as a seed and the name of a parameter
 */
export const sobolShare = (point: number, dimension: number, key: string): number =>
  (scrambled(sobolInteger(point, dimension), hash32(key)) + 0.5) / 2 ** bits;

const bits = 32;

/**
 * Return one coordinate of a point of Sobol's sequence, without scrambling, as a fraction of 2^32: the exclusive or of
 * the direction numbers at the bits of the point's Gray code (Antonov and Saleev, 1979).
 */
export function sobolInteger(point: number, dimension: number): number {
  const directions = directionsOf(dimension);
  let sum = 0;
  for (let gray = point ^ (point >>> 1), bit = 0; gray !== 0; gray >>>= 1, bit += 1)
    if (gray & 1) sum ^= directions[bit] ?? 0;
  return sum >>> 0;
}

const computed = new Map<number, readonly number[]>();

/**
 * Return the direction numbers `v` of a dimension: `v_k = m_k 2^(32-k)`, continued by the recurrence of the primitive
 * polynomial, `v_k = a_1 v_(k-1) ⊕ … ⊕ a_(s-1) v_(k-s+1) ⊕ v_(k-s) ⊕ (v_(k-s) >> s)`.
 */
function directionsOf(dimension: number): readonly number[] {
  const known = computed.get(dimension);
  if (known !== undefined) return known;
  const directions = dimension === 0 ? vanDerCorput() : continued(dimension);
  computed.set(dimension, directions);
  return directions;
}

const vanDerCorput = (): number[] => Array.from({ length: bits }, (_, at) => (1 << (bits - 1 - at)) >>> 0);

function continued(dimension: number): number[] {
  const line = sobolDirections.trim().split('\n')[dimension - 1];
  if (line === undefined) throw new RangeError(`Sobol's sequence has no dimension ${dimension} here`);
  const [a = 0, ...first] = line.split(' ').map(Number);
  const degree = first.length;
  const directions = first.map((m, at) => (m << (bits - 1 - at)) >>> 0);
  for (let at = degree; at < bits; at += 1) {
    const back = directions[at - degree] ?? 0;
    let next = back ^ (back >>> degree);
    for (let term = 1; term < degree; term += 1)
      if ((a >>> (degree - 1 - term)) & 1) next ^= directions[at - term] ?? 0;
    directions.push(next >>> 0);
  }
  return directions;
}

/**
 * Flip each bit by chance, where the chance depends on all bits above it: Owen's scrambling (Randomly permuted
 * (t,m,s)-nets and (t,s)-sequences, 1995) in base 2. A hash of the bits above stands for the tree of permutations.
 */
function scrambled(value: number, key: number): number {
  let result = 0;
  for (let bit = 0; bit < bits; bit += 1) {
    const above = bit === 0 ? 0 : value >>> (bits - bit);
    const flip = hash32(`${key}/${bit}/${above}`) & 1;
    result = (result << 1) | (((value >>> (bits - 1 - bit)) & 1) ^ flip);
  }
  return result >>> 0;
}
