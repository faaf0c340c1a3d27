/**
 * Whether `met` of `of` would happen by chance less often than `chance`, if each happened with probability `share`. By default that
 * is once in ten thousand times.
 */
export function exceedsShare(met: number, of: number, share: number, chance = 1e-4): boolean {
  if (met <= of * share) return false;
  let [probability, below] = [(1 - share) ** of, 0];
  for (let count = 0; count < met; count += 1) {
    below += probability;
    probability *= ((of - count) / (count + 1)) * (share / (1 - share));
  }
  return 1 - below < chance;
}
