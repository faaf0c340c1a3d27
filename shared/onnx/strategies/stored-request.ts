import * as z from 'zod';
import { valueSchemasOf } from './parameter.ts';
import { pruneParameters, pruneStrategyNames } from './prune-strategies.ts';
import { quantizeParameters, quantizeStrategyNames } from './quantize-strategies.ts';

/** The strategy and parameters of a request for a pruning, as they are stored and shown. */
export const prunedBy = () => ({
  strategy: z.enum(pruneStrategyNames),
  ...valueSchemasOf(pruneParameters),
});

/** The same of a quantization. */
export const quantizedBy = () => ({
  strategy: z.enum(quantizeStrategyNames),
  ...valueSchemasOf(quantizeParameters),
});

/** A request as its record keeps it, with every default filled in. */
export const storedRequest = () =>
  z.discriminatedUnion('operation', [
    z.object({ operation: z.literal('prune'), ...prunedBy() }),
    z.object({ operation: z.literal('quantize'), ...quantizedBy() }),
  ]);
