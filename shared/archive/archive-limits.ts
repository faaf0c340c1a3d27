import type { ArchiveLimits } from './archive-error.ts';

/** What a job takes of a source. `mps` checks the same before it sends one. */
export const sourceLimits: ArchiveLimits = {
  maxEntries: 100_000,
  maxBytes: 20_000_000_000,
  maxPathBytes: 1024,
  maxDepth: 64,
};

/** What a job takes of a data set. */
export const dataLimits: ArchiveLimits = {
  ...sourceLimits,
  maxEntries: 2_000_000,
  maxBytes: 100_000_000_000,
};
