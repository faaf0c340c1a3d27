/**
 * Begin a read of which it is not certain yet whether it is needed, so that it goes together with other reads.
 * @returns the read: what was begun at the first call, a new one at every later call, as a retry needs it
 */
export function readAhead<T>(read: () => Promise<T>): () => Promise<T> {
  let begun: Promise<T> | undefined = read();
  // Where it is not needed its failure is nobody's.
  begun.catch(() => {});
  return () => {
    const first = begun;
    begun = undefined;
    return first ?? read();
  };
}
