import { BatchClient } from '@aws-sdk/client-batch';
import { oncePerPlace, place } from './place.ts';

/** AWS Batch; `BATCH_ENDPOINT` names another one than the region's. */
export const batch = /* @__PURE__ */ oncePerPlace(
  'BATCH_ENDPOINT',
  (environment) => new BatchClient(place(environment, 'BATCH_ENDPOINT')),
);
