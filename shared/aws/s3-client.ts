import { S3Client } from '@aws-sdk/client-s3';
import type { Environment } from '../core/needs.ts';
import { clientEndpoint, oncePerEnvironment } from './client-endpoint.ts';
import { withoutLog } from './without-log.ts';

/**
 * Credentials of a function's role, from the environment of Lambda. Without them the SDK searches its own sources.
 */
function credentialsOf(environment: Environment) {
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = environment;
  const sessionToken = environment['AWS_SESSION_TOKEN'];
  if (accessKeyId === undefined || secretAccessKey === undefined) return {};
  return {
    credentials: { accessKeyId, secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) },
  };
}

/**
 * Connections that all clients of a process share. A local process serves many functions, each with its own
 * credentials.
 */
let connections: S3Client['config']['requestHandler'] | undefined;

/**
 * Client that presigns URLs. `S3_PUBLIC_ENDPOINT` is the address of S3 for others, if it is another one than for this
 * process.
 */
export const s3OfUrls = /* @__PURE__ */ oncePerEnvironment((environment) => {
  const { S3_PUBLIC_ENDPOINT } = environment;
  return S3_PUBLIC_ENDPOINT === undefined
    ? s3(environment)
    : s3({ ...environment, S3_ENDPOINT: S3_PUBLIC_ENDPOINT });
});

/** Client of S3. `S3_ENDPOINT` replaces the region's endpoint and switches to path-style addressing. */
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
