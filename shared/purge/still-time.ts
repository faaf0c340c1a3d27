/** Asked before every batch; after a `false` nothing more is removed in this run. */
export type StillTime = () => boolean;

/** Says that there is still time, for so many seconds from now on. */
export function forSeconds(seconds: number): StillTime {
  const end = performance.now() + seconds * 1000;
  return () => performance.now() < end;
}

/** What one pass came to: `stopped` when time ran out, `clean` when there was nothing left to remove. */
export type Pass = 'stopped' | 'removed' | 'clean';
