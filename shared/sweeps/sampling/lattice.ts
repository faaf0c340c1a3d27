/** Return the number of points of a range with a step. */
export const latticeSize = ({ min, max, step }: Lattice): number =>
  Math.floor((max - min) / step + tolerance) + 1;

/** Numbers from `min` to `max` at distances of `step`. */
interface Lattice {
  min: number;
  max: number;
  step: number;
}

/** Share of a step by which rounding may move a point. */
const tolerance = 1e-9;

/** Return a point of a range with a step, without the noise of binary fractions: 0.3, not 0.30000000000000004. */
export function latticePoint({ min, step }: Omit<Lattice, 'max'>, at: number): number {
  const point = min + at * step;
  return Number.isInteger(min) && Number.isInteger(step) ? point : Number(point.toPrecision(12));
}

/** Return whether a number is a point of a range with a step. */
export function isLattice(lattice: Lattice, value: number): boolean {
  const at = (value - lattice.min) / lattice.step;
  return Math.abs(at - Math.round(at)) <= Math.max(tolerance, tolerance * Math.abs(at));
}
