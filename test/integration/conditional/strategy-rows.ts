import { endpoint as cancelPruneStrategy } from '../../../functions/optimization/strategies/prune/cancel-prune-strategy.endpoint.ts';
import { endpoint as createPruneStrategy } from '../../../functions/optimization/strategies/prune/create-prune-strategy.endpoint.ts';
import { endpoint as deletePruneStrategy } from '../../../functions/optimization/strategies/prune/delete-prune-strategy.endpoint.ts';
import { endpoint as readPruneStrategy } from '../../../functions/optimization/strategies/prune/read-prune-strategy.endpoint.ts';
import { endpoint as cancelQuantizeStrategy } from '../../../functions/optimization/strategies/quantize/cancel-quantize-strategy.endpoint.ts';
import { endpoint as createQuantizeStrategy } from '../../../functions/optimization/strategies/quantize/create-quantize-strategy.endpoint.ts';
import { endpoint as deleteQuantizeStrategy } from '../../../functions/optimization/strategies/quantize/delete-quantize-strategy.endpoint.ts';
import { endpoint as readQuantizeStrategy } from '../../../functions/optimization/strategies/quantize/read-quantize-strategy.endpoint.ts';
import type { Rows } from './rows.ts';

/** Everything about prunings and quantizations whose answer has an ETag or that a precondition guards. */
export const strategyRows: Rows = {
  reads: [
    { endpoint: readPruneStrategy, accept: 'application/json' },
    { endpoint: readQuantizeStrategy, accept: 'application/json' },
  ],
  changes: [
    { endpoint: deletePruneStrategy, content: () => ({}), reads: readPruneStrategy, effect: 'removes' },
    { endpoint: deleteQuantizeStrategy, content: () => ({}), reads: readQuantizeStrategy, effect: 'removes' },
  ],
  tagged: [createPruneStrategy, createQuantizeStrategy, cancelPruneStrategy, cancelQuantizeStrategy],
};
