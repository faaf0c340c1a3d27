import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { CommandError } from '../../command/command-error.ts';
import { clientConfig, type DeployedResource, resourcesOf, stackName } from '../deploy/read-deployment.ts';
import type { DeploymentOptions } from '../options/deployment-options.ts';
import { type OrphanSearch, searchStores } from './orphan-search.ts';

/** Search all data of a deployment. @throws CommandError if there is none */
export async function searchDeployment(options: DeploymentOptions): Promise<OrphanSearch> {
  const config = clientConfig(options);
  const stack = stackName(options, 'data');
  const resources = await resourcesOf(new CloudFormationClient(config), stack);
  if (resources.length === 0) throw new CommandError('Nothing is deployed in this account and region.');
  const nameOf = (type: DeployedResource['type'], id: string): string => {
    const resource = resources.find((one) => one.type === type && one.id.startsWith(id));
    if (resource === undefined)
      throw new CommandError(`The stack ${stack} has no ${id}. Run npm run deploy.`);
    return resource.name;
  };
  return searchStores({
    accounts: nameOf('AWS::DynamoDB::Table', 'Accounts'),
    records: nameOf('AWS::DynamoDB::Table', 'Records'),
    bucket: nameOf('AWS::S3::Bucket', 'Bucket'),
    dynamoDb: config,
    s3: config,
  });
}
