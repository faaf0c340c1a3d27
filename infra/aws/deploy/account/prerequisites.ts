import { spawnSync } from 'node:child_process';
import type { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { GetRoleCommand, type IAMClient } from '@aws-sdk/client-iam';
import { GetServiceQuotaCommand, type ServiceQuotasClient } from '@aws-sdk/client-service-quotas';
import { GetCallerIdentityCommand, type STSClient } from '@aws-sdk/client-sts';
import type { DeploymentOptions } from '../../options/deployment-options.ts';
import { outputsOf } from '../read-deployment.ts';
import { type Finding, good, note, problem } from './finding.ts';
import { quotasFor } from './quotas.ts';

/** Templates of this CDK need at least this version of the bootstrap stack. */
const bootstrapVersion = 6;

export async function checkIdentity(client: STSClient): Promise<Finding> {
  const { Account, Arn } = await client.send(new GetCallerIdentityCommand({}));
  return good(`account ${Account}, as ${Arn}, in ${await client.config.region()}`);
}

export async function checkBootstrap(client: CloudFormationClient): Promise<Finding> {
  const outputs = await outputsOf(client, 'CDKToolkit');
  if (outputs === undefined)
    return problem('the account is not bootstrapped in this region: npm run bootstrap');
  const version = Number(outputs['BootstrapVersion']);
  return version >= bootstrapVersion
    ? good(`bootstrapped, version ${version}`)
    : problem(`bootstrapped in version ${version}, ${bootstrapVersion} is needed: npm run bootstrap`);
}

/** The tool that builds the job image when it is deployed. */
export function checkImageTool(): Finding {
  const tool = process.env['CDK_DOCKER'] ?? 'docker';
  const { status, stdout } = spawnSync(tool, ['version', '--format', '{{.Server.Version}}'], {
    encoding: 'utf8',
  });
  return status === 0
    ? good(`${tool} ${stdout.trim()} builds the job image`)
    : problem(`${tool} does not run, and the job image cannot be built. Another tool is named in CDK_DOCKER`);
}

export async function checkQuotas(
  client: ServiceQuotasClient,
  options: DeploymentOptions,
): Promise<Finding[]> {
  return Promise.all(
    quotasFor(options).map(async ({ service, code, name, needed, least }) => {
      try {
        const { Quota } = await client.send(
          new GetServiceQuotaCommand({ ServiceCode: service, QuotaCode: code }),
        );
        const value = Quota?.Value ?? 0;
        if (value < least)
          return problem(
            `quota: ${value} ${name}, and the smallest job or node needs ${least}: none would ever start. Ask for more in Service Quotas (${code})`,
          );
        return value >= needed
          ? good(`quota: ${value} ${name}`)
          : note(
              `quota: ${value} ${name}, the options allow ${needed}; jobs beyond it wait. Ask for more in Service Quotas (${code})`,
            );
      } catch (error) {
        return note(`quota of ${name} could not be read: ${error instanceof Error ? error.name : ''}`);
      }
    }),
  );
}

/** Service-linked roles, which Batch, ECS and Spot create on first use if the deploying identity may create them. */
const linkedRoles = ({ spot, gpuInstanceTypes }: DeploymentOptions): string[] => [
  'AWSServiceRoleForBatch',
  'AWSServiceRoleForECS',
  ...(spot && gpuInstanceTypes.length > 0 ? ['AWSServiceRoleForEC2Spot'] : []),
];

export async function checkLinkedRoles(client: IAMClient, options: DeploymentOptions): Promise<Finding[]> {
  return Promise.all(
    linkedRoles(options).map(async (RoleName) => {
      try {
        await client.send(new GetRoleCommand({ RoleName }));
        return good(`service-linked role ${RoleName}`);
      } catch (error) {
        if (!(error instanceof Error && error.name.startsWith('NoSuchEntity'))) throw error;
        return note(
          `no service-linked role ${RoleName} yet; the first deployment makes it (needs iam:CreateServiceLinkedRole)`,
        );
      }
    }),
  );
}
