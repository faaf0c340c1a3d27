/** Which weights of a block of columns go: 1 for those, n × columns. */
export type MaskChoice = (saliency: Float64Array, n: number, columns: number) => Uint8Array;

/** 2 of every 4 columns of a row: the least salient ones; of equals the later ones. */
export const twoOfFour: MaskChoice = (saliency, n, columns) => {
  const gone = new Uint8Array(n * columns);
  for (let start = 0; start < gone.length; start += 4) {
    for (let one = 0; one < 4; one += 1) {
      let stronger = 0;
      for (let other = 0; other < 4; other += 1) {
        const [own, against] = [saliency[start + one] ?? 0, saliency[start + other] ?? 0];
        if (against > own || (against === own && other < one)) stronger += 1;
      }
      if (stronger >= 2) gone[start + one] = 1;
    }
  }
  return gone;
};

/** All but 1/compression of a block's weights, the least salient ones over all rows together; of equals the later ones. */
export const leastSalient =
  (compression: number): MaskChoice =>
  (saliency) => {
    const kept = Math.ceil(saliency.length / compression);
    const order = Uint32Array.from(saliency.keys()).sort(
      (a, b) => (saliency[b] ?? 0) - (saliency[a] ?? 0) || a - b,
    );
    const gone = new Uint8Array(saliency.length);
    for (const at of order.subarray(kept)) gone[at] = 1;
    return gone;
  };

/** Columns whose mask is chosen together: the choice adapts to what the columns before them left. */
const maskBlock = 128;

/**
 * Zeroes weights and changes the others so that the product with inputs of this curvature changes least: SparseGPT (Frantar
 * and Alistarh, 2023). `values` (n × k, a row for each output) are changed in place. Columns take their turn from the first
 * on; the saliency of a weight is w² / U_jj², and what a zero takes away is spread over the columns to come by U's row.
 */
export function sparsify(
  values: Float64Array,
  n: number,
  k: number,
  factor: Float64Array,
  choose: MaskChoice,
  block = maskBlock,
): void {
  for (let start = 0; start < k; start += block) {
    const columns = Math.min(block, k - start);
    const saliency = new Float64Array(n * columns);
    for (let row = 0; row < n; row += 1)
      for (let at = 0; at < columns; at += 1) {
        const scaled = (values[row * k + start + at] ?? 0) / (factor[(start + at) * (k + 1)] ?? 1);
        saliency[row * columns + at] = scaled * scaled;
      }
    const gone = choose(saliency, n, columns);
    for (let at = 0; at < columns; at += 1) {
      const column = start + at;
      const turn = factor.subarray(column * k, (column + 1) * k);
      const pivot = turn[column] ?? 1;
      for (let row = 0; row < n; row += 1) {
        if (gone[row * columns + at] === 0) continue;
        const own = values.subarray(row * k, (row + 1) * k);
        const error = (own[column] ?? 0) / pivot;
        own[column] = 0;
        for (let next = column + 1; next < k; next += 1)
          own[next] = (own[next] ?? 0) - error * (turn[next] ?? 0);
      }
    }
  }
}
