import { endpoint as cancelPruneStrategy } from '../../../functions/optimization/compressions/prune/cancel-prune-strategy.endpoint.ts';
import { endpoint as createPruneStrategy } from '../../../functions/optimization/compressions/prune/create-prune-strategy.endpoint.ts';
import { endpoint as deletePruneStrategy } from '../../../functions/optimization/compressions/prune/delete-prune-strategy.endpoint.ts';
import { endpoint as readPruneStrategy } from '../../../functions/optimization/compressions/prune/read-prune-strategy.endpoint.ts';
import { endpoint as cancelQuantizeStrategy } from '../../../functions/optimization/compressions/quantize/cancel-quantize-strategy.endpoint.ts';
import { endpoint as createQuantizeStrategy } from '../../../functions/optimization/compressions/quantize/create-quantize-strategy.endpoint.ts';
import { endpoint as deleteQuantizeStrategy } from '../../../functions/optimization/compressions/quantize/delete-quantize-strategy.endpoint.ts';
import { endpoint as readQuantizeStrategy } from '../../../functions/optimization/compressions/quantize/read-quantize-strategy.endpoint.ts';
import { endpoint as createExport } from '../../../functions/optimization/exports/create-export.endpoint.ts';
import type { Rows } from './rows.ts';

/** Everything about exports, prunings and quantizations whose answer has an ETag or that a precondition guards. */
export const compressionRows: Rows = {
  reads: [
    { endpoint: readPruneStrategy, accept: 'application/json' },
    { endpoint: readQuantizeStrategy, accept: 'application/json' },
  ],
  changes: [
    { endpoint: deletePruneStrategy, content: () => ({}), reads: readPruneStrategy, effect: 'removes' },
    { endpoint: deleteQuantizeStrategy, content: () => ({}), reads: readQuantizeStrategy, effect: 'removes' },
  ],
  tagged: [
    createExport,
    createPruneStrategy,
    createQuantizeStrategy,
    cancelPruneStrategy,
    cancelQuantizeStrategy,
  ],
};
