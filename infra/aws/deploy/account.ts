import { GetAccountSettingsCommand, type LambdaClient } from '@aws-sdk/client-lambda';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import type { DeploymentOptions } from '../options/deployment-options.ts';
import { clientConfig } from './read-deployment.ts';

/** Return the account of the credentials. @throws the SDK's errors if credentials or region are missing */
export async function callersAccount(options: DeploymentOptions): Promise<Account> {
  const client = new STSClient(clientConfig(options));
  const region = await client.config.region();
  const { Account = '', Arn = '' } = await client.send(new GetCallerIdentityCommand({}));
  return { id: Account, region, caller: Arn };
}

/** The caller's identity and region. */
interface Account {
  id: string;
  region: string;
  /** ARN of the user or role. */
  caller: string;
}

/** Return the quota of concurrent functions, or undefined if the caller may not read it. */
export async function concurrencyQuota(client: LambdaClient): Promise<number | undefined> {
  try {
    const { AccountLimit } = await client.send(new GetAccountSettingsCommand({}));
    return AccountLimit?.ConcurrentExecutions;
  } catch (error) {
    if (error instanceof Error && error.name.startsWith('AccessDenied')) return undefined;
    throw error;
  }
}
