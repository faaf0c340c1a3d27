import type { IndexRow, Placed } from '../manifest.ts';

/** A file of an archive, and what it is. */
export type ArchiveFile = IndexRow & { placed: Placed };
