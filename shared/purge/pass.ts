/** The outcome of one pass: `stopped` when time ran out, `clean` when there was nothing left to remove. */
export type Pass = 'stopped' | 'removed' | 'clean';
