/** Return the mask of removed weights for a block of columns (n × columns): 1 for removed. */
export type MaskChoice = (saliency: Float64Array, n: number, columns: number) => Uint8Array;

/** Remove the 2 least salient of every 4 columns of a row. Ties remove the later columns. */
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

/**
 * Keep the most salient 1/compression of a block's weights, over all rows together. Ties remove the later weights.
 */
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

/** Number of columns per mask. The choice adapts to the updates from earlier columns. */
const maskBlock = 128;

/**
 * Zero weights, and update the others to minimize the change of the product with inputs of this curvature:
 * SparseGPT (Frantar and Alistarh, 2023). `values` (n × k, a row for each output) change in place. Columns are
 * processed in order. The saliency of a weight is w² / U_jj². The error of a zeroed weight is distributed over
 * later columns by the row of U.
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
