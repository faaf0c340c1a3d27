import * as z from 'zod';

/** What to do if the run before has not ended. */
export const Overlap = z.enum(['skip', 'queue'], 'must be skip or queue');
