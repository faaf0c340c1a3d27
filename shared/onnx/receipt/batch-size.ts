import type { Receipt } from './receipt.ts';

/** Samples at once of a timing: the first dimension of its inputs. */
export const batchSize = ({ shapes }: NonNullable<Receipt['latency']>): number =>
  Object.values(shapes)[0]?.[0] ?? 1;
