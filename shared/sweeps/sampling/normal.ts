// The normal distribution, as exact as doubles allow where its probabilities are not below 1e-300.

/** Return the probability that a standard normal number is below `x`. */
export const normalCdf = (x: number): number => erfc(-x / Math.SQRT2) / 2;

/** Return the probability that a standard normal number lies from `low` to `high`, exact also far from 0. */
export const normalMass = (low: number, high: number): number =>
  low > 0 ? normalCdf(-low) - normalCdf(-high) : normalCdf(high) - normalCdf(low);

/** Return the logarithm of the density of a standard normal number. */
export const normalLogDensity = (x: number): number => -(x * x + Math.log(2 * Math.PI)) / 2;

/**
 * Return the number below which a normal number lies with a probability, given that it lies from `low` to `high`. The
 * interval holds 0 or begins or ends near it. Bisection: 60 halvings are as exact as a double.
 */
export function truncatedQuantile(share: number, low: number, high: number): number {
  const sought = share * normalMass(low, high);
  let [below, above] = [low, high];
  for (let halving = 0; halving < 60; halving += 1) {
    const middle = (below + above) / 2;
    if (normalMass(low, middle) < sought) below = middle;
    else above = middle;
  }
  return (below + above) / 2;
}

/** Return the complementary error function (Abramowitz and Stegun, 7.1.6 near 0, 7.1.14 far from it). */
function erfc(x: number): number {
  if (x < 0) return 2 - erfc(-x);
  if (x > 27) return 0;
  if (x < 2) return 1 - erfNearZero(x);
  // The continued fraction 1/(x + (1/2)/(x + 1/(x + (3/2)/(x + …)))), from a depth that suffices at x = 2.
  let fraction = x;
  for (let depth = 80; depth > 0; depth -= 1) fraction = x + depth / 2 / fraction;
  return Math.exp(-x * x) / (Math.sqrt(Math.PI) * fraction);
}

/** erf(x) = 2/√π e^(-x²) Σ 2^n x^(2n+1) / (1·3·5…(2n+1)); all terms are positive. */
function erfNearZero(x: number): number {
  let term = x;
  let sum = x;
  for (let n = 1; term > sum * 1e-17; n += 1) {
    term *= (2 * x * x) / (2 * n + 1);
    sum += term;
  }
  return (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x) * sum;
}
