/** When a job was cancelled before it did anything, as the end of a sentence. */
export type Early = 'before it started' | 'before its command started';

/** Why a job was cancelled, as people read it: by whom, where that is known. Earlier releases did not note it. */
export const cancelledReason = (by: string | null, early?: Early): string =>
  `Cancelled${by === null ? '' : ` by ${by}`}${early === undefined ? '' : ` ${early}`}.`;
