import type { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { subnetContext } from '../options/api-context.ts';
import { type DeployedTemplate, deployedTemplate } from './read-deployment.ts';

/** Return the size of the subnets of a deployed stack, as context of the CDK. Another size would replace them under their jobs. */
export async function keptSubnets(client: CloudFormationClient, stack: string): Promise<string[]> {
  const template = await deployedTemplate(client, stack);
  const mask = template && subnetMask(template);
  return mask === undefined ? [] : [`${subnetContext}=${mask}`];
}

/** Return the mask of the first subnet of a template, such as 20; undefined if it has none. */
export function subnetMask({ Resources }: DeployedTemplate): number | undefined {
  const subnet = Object.values(Resources).find(({ Type }) => Type === 'AWS::EC2::Subnet');
  const mask = /\/(\d+)$/.exec(String(subnet?.Properties?.['CidrBlock']))?.[1];
  return mask === undefined ? undefined : Number(mask);
}
