import { BatchClient } from '@aws-sdk/client-batch';
import { clientEndpoint, oncePerEndpoint } from './client-endpoint.ts';

/** Client of AWS Batch. `BATCH_ENDPOINT` replaces the region's endpoint. */
export const batch = /* @__PURE__ */ oncePerEndpoint(
  'BATCH_ENDPOINT',
  (environment) => new BatchClient(clientEndpoint(environment, 'BATCH_ENDPOINT')),
);
