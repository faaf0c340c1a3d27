/** Return the bytes of all files of a compression's result. */
export const bytesOf = ({ result }: { result: readonly { size: number }[] }): number =>
  result.reduce((sum, { size }) => sum + size, 0);
