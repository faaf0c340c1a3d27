import { BatchClient } from '@aws-sdk/client-batch';
import { oncePerEnvironment, place } from './place.ts';

/** AWS Batch; `BATCH_ENDPOINT` names another one than the region's. */
export const batch = /* @__PURE__ */ oncePerEnvironment(
  (environment) => new BatchClient(place(environment, 'BATCH_ENDPOINT')),
);
