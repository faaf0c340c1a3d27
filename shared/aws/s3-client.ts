import { S3Client } from '@aws-sdk/client-s3';
import type { Environment } from '../core/needs.ts';
import { clientEndpoint, oncePerEnvironment } from './client-endpoint.ts';
import { withoutLog } from './without-log.ts';

/** Those of the role of a function, which Lambda puts into its environment; what else there is the SDK finds itself. */
function credentialsOf(environment: Environment) {
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = environment;
  const sessionToken = environment['AWS_SESSION_TOKEN'];
  if (accessKeyId === undefined || secretAccessKey === undefined) return {};
  return {
    credentials: { accessKeyId, secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) },
  };
}

/** Shared, where one process is many functions, each with its own credentials. */
let connections: S3Client['config']['requestHandler'] | undefined;

/** S3; `S3_ENDPOINT` names another one than the region's, which is then spoken to by path. */
export const s3 = /* @__PURE__ */ oncePerEnvironment((environment) => {
  const settings = clientEndpoint(environment, 'S3_ENDPOINT');
  const client = withoutLog(
    new S3Client({
      ...settings,
      ...credentialsOf(environment),
      ...(connections !== undefined && { requestHandler: connections }),
      forcePathStyle: settings.endpoint !== undefined,
    }),
  );
  connections ??= client.config.requestHandler;
  return client;
});
