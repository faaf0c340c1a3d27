import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import type { DeploymentOptions } from '../../options/deployment-options.ts';
import { clientConfig } from '../read-deployment.ts';

/** Who asks, and where. */
export interface Account {
  id: string;
  region: string;
  /** ARN of the user or role. */
  caller: string;
}

/** The account that the credentials belong to. @throws the SDK's errors where there are none, or no region */
export async function callersAccount(options: DeploymentOptions): Promise<Account> {
  const client = new STSClient(clientConfig(options));
  const region = await client.config.region();
  const { Account = '', Arn = '' } = await client.send(new GetCallerIdentityCommand({}));
  return { id: Account, region, caller: Arn };
}
