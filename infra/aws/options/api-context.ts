/** Context of the CDK's app while `npm run deploy` adopts tables and a bucket (`deploy/adopt.ts`). */
export const adoptContext = 'data:adopt';

/** Context of the CDK's app while `npm run deploy` moves an API into its document (`deploy/move-api.ts`). */
export const apiContext = { template: 'api:template', mode: 'api:mode' } as const;

/** Context of the CDK's app with the size of the subnets of a deployment (`deploy/kept-subnets.ts`). */
export const subnetContext = 'network:mask';
