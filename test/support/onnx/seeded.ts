/** Values in [−scale, scale). */
export const seededFloats = (random: () => number, count: number, scale = 1): Float32Array =>
  Float32Array.from({ length: count }, () => (random() * 2 - 1) * scale);
