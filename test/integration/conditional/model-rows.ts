import { endpoint as deleteModel } from '../../../functions/optimization/models/delete-model.endpoint.ts';
import { endpoint as putModel } from '../../../functions/optimization/models/put-model.endpoint.ts';
import { endpoint as readModel } from '../../../functions/optimization/models/read-model.endpoint.ts';
import type { Rows } from './rows.ts';

/** Everything below `/optimization/models` whose answer has an ETag or that a precondition guards. */
export const modelRows: Rows = {
  reads: [{ endpoint: readModel, change: putModel }],
  changes: [
    {
      endpoint: putModel,
      content: (n) => ({ query: { inputs: `${n}x1x8x8` } }),
      reads: readModel,
      effect: 'sets',
    },
    { endpoint: deleteModel, content: () => ({}), reads: readModel, effect: 'removes' },
  ],
  tagged: [],
};
