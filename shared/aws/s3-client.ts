import { S3Client } from '@aws-sdk/client-s3';
import { oncePerEnvironment, place } from './place.ts';

/** S3; `S3_ENDPOINT` names another one than the region's, which is then spoken to by path. */
export const s3 = /* @__PURE__ */ oncePerEnvironment((environment) => {
  const settings = place(environment, 'S3_ENDPOINT');
  return new S3Client({ ...settings, forcePathStyle: settings.endpoint !== undefined });
});
