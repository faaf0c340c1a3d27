import type { Environment } from '../../core/needs.ts';
import { serviceDomain } from '../../core/settings.ts';
import { requestSigner, sendSigned } from './request-signer.ts';

/**
 * Return a call of a Lambda function that waits for no answer of it. `LAMBDA_ENDPOINT` replaces the region's endpoint. The
 * call never throws: what the function does is also done by a later pass.
 */
export function callFunction(
  environment: Environment,
  name: string,
  credentials: Parameters<typeof requestSigner>[2],
): () => Promise<void> {
  const region = environment['AWS_REGION'] ?? 'us-east-1';
  const endpoint = environment['LAMBDA_ENDPOINT'] ?? `https://lambda.${region}.${serviceDomain(region)}`;
  const url = new URL(`/2015-03-31/functions/${name}/invocations`, endpoint);
  const signed = requestSigner('lambda', region, credentials);
  // The function is started by no list and so schedules no pass.
  const body = JSON.stringify({ repeats: true });
  return async () => {
    try {
      const post = await signed(url, { 'x-amz-invocation-type': 'Event' }, body);
      const answer = await sendSigned(post, patience);
      await answer.body?.cancel();
    } catch {
      // The background pass remains.
    }
  };
}

/** Milliseconds. Lambda answers within 50, before the function begins. */
const patience = 2000;
