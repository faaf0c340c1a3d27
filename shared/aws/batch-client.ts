import { BatchClient } from '@aws-sdk/client-batch';
import { clientEndpoint, oncePerEndpoint } from './client-endpoint.ts';

/** AWS Batch; `BATCH_ENDPOINT` names another one than the region's. */
export const batch = /* @__PURE__ */ oncePerEndpoint(
  'BATCH_ENDPOINT',
  (environment) => new BatchClient(clientEndpoint(environment, 'BATCH_ENDPOINT')),
);
