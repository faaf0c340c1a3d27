/**
 * The Cholesky factor L of a symmetric matrix A = LLᵀ (n × n, row-major, of which the lower triangle is read), written
 * over A's lower triangle. Returns false, with A half done, where A is not positive definite as far as doubles tell.
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
 * The upper triangular U (n × n, row-major, zero below) with A⁻¹ = UᵀU of a symmetric positive definite A: what GPTQ
 * takes from the inverse of its Hessian, without computing that. With A's rows and columns in reverse order factored as
 * LLᵀ, A = MMᵀ for an upper triangular M, and U = M⁻¹. Undefined where A is not positive definite.
 */
export function inverseFactor(a: Float64Array, n: number): Float64Array | undefined {
  const lower = reversed(a);
  if (!choleskyInPlace(lower, n)) return undefined;
  // The inverse of L, row by row; its rows and columns in reverse order are M⁻¹.
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

/** A matrix with the order of rows and columns reversed. */
function reversed(a: Float64Array): Float64Array {
  return Float64Array.from(a).reverse();
}
