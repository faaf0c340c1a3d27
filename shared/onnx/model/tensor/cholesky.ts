/**
 * Compute the Cholesky factor L of a symmetric matrix A = LLᵀ (n × n, row-major). Reads only the lower triangle
 * and overwrites it. Returns false, with A partly overwritten, if A is not positive definite in double precision.
 */
export function choleskyInPlace(a: Float64Array, n: number): boolean {
  for (let row = 0; row < n; row += 1) {
    const own = a.subarray(row * n, row * n + row + 1);
    for (let column = 0; column <= row; column += 1) {
      const other = a.subarray(column * n, column * n + column + 1);
      let sum = own[column] ?? 0;
      for (let at = 0; at < column; at += 1) sum -= (own[at] ?? 0) * (other[at] ?? 0);
      if (column < row) own[column] = sum / (other[column] ?? 1);
      else if (sum > 0) own[column] = Math.sqrt(sum);
      else return false;
    }
  }
  return true;
}

/**
 * Compute the upper triangular U (n × n, row-major, zero below) with A⁻¹ = UᵀU for a symmetric positive definite
 * A. GPTQ needs this factor of its inverse Hessian; the inverse itself is not computed. Factor A with reversed
 * rows and columns as LLᵀ: then A = MMᵀ for an upper triangular M, and U = M⁻¹. Undefined if A is not positive
 * definite.
 */
export function inverseFactor(a: Float64Array, n: number): Float64Array | undefined {
  const lower = reversed(a);
  if (!choleskyInPlace(lower, n)) return undefined;
  // Compute the inverse of L row by row. With reversed rows and columns it is M⁻¹.
  const inverse = new Float64Array(n * n);
  for (let row = 0; row < n; row += 1) {
    const result = inverse.subarray(row * n, row * n + row + 1);
    for (let at = 0; at < row; at += 1) {
      const factor = lower[row * n + at] ?? 0;
      const other = inverse.subarray(at * n, at * n + at + 1);
      for (let column = 0; column <= at; column += 1) {
        result[column] = (result[column] ?? 0) - factor * (other[column] ?? 0);
      }
    }
    const pivot = lower[row * n + row] ?? 1;
    result[row] = 1;
    for (let column = 0; column <= row; column += 1) result[column] = (result[column] ?? 0) / pivot;
  }
  return inverse.reverse();
}

/** Reverse the order of rows and columns. */
function reversed(a: Float64Array): Float64Array {
  return Float64Array.from(a).reverse();
}
