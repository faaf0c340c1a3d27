import type { Receipt } from './receipt.ts';

/** Return the batch size of a timing: the first dimension of its first input. */
export const batchSize = ({ shapes }: NonNullable<Receipt['latency']>): number =>
  Object.values(shapes)[0]?.[0] ?? 1;
