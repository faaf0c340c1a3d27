import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { EC2Client } from '@aws-sdk/client-ec2';
import { IAMClient } from '@aws-sdk/client-iam';
import { ServiceQuotasClient } from '@aws-sdk/client-service-quotas';
import { STSClient } from '@aws-sdk/client-sts';
import type { DeploymentOptions } from '../../options/deployment-options.ts';
import { clientConfig } from '../read-deployment.ts';
import { type CheckResult, note } from './check-result.ts';
import { checkIssuer } from './oidc-issuer.ts';
import { checkBootstrap, checkIdentity, checkImageTool, checkLinkedRoles } from './prerequisites.ts';
import { checkConcurrency, checkQuotas } from './quotas.ts';
import { checkZones } from './zones.ts';

/**
 * Check what a deployment needs before its first stack: bootstrap, image tool, quotas and zones.
 * @param quota concurrent functions of the account; undefined if the caller may not read it
 */
export async function checkReadiness(
  options: DeploymentOptions,
  quota: number | undefined,
): Promise<CheckResult[]> {
  const config = clientConfig(options);
  const identity = await checkIdentity(new STSClient(config));
  const others = await Promise.all([
    unlessDenied('the bootstrap', async () => [await checkBootstrap(new CloudFormationClient(config))]),
    [checkImageTool()],
    unlessDenied('service-linked roles', () => checkLinkedRoles(new IAMClient(config), options)),
    unlessDenied('quotas', () => checkQuotas(new ServiceQuotasClient(config), options)),
    unlessDenied('zones', () => checkZones(new EC2Client(config), options)),
    checkIssuer(options),
    [checkConcurrency(quota, options)],
  ]);
  return [identity, ...others.flat()];
}

/** A check that the caller may not make is no reason not to deploy. */
async function unlessDenied(what: string, check: () => Promise<CheckResult[]>): Promise<CheckResult[]> {
  try {
    return await check();
  } catch (error) {
    if (!(error instanceof Error && /AccessDenied|Unauthorized/.test(error.name))) throw error;
    return [note(`${what} could not be checked: ${error.message}`)];
  }
}
