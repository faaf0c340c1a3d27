import { join } from 'node:path';
import {
  type CloudFormationClient,
  DescribeStacksCommand,
  GetTemplateCommand,
  paginateListStackResources,
} from '@aws-sdk/client-cloudformation';
import * as z from 'zod';
import { givenOptions } from '../../command/read-flags.ts';
import { cdkContext } from '../build/templates.ts';
import { type DeploymentOptions, readOptions } from '../options/deployment-options.ts';

/** Return the outputs of a stack, or undefined if it is not deployed. */
export async function outputsOf(
  client: CloudFormationClient,
  stack: string,
): Promise<Record<string, string> | undefined> {
  try {
    const { Stacks = [] } = await client.send(new DescribeStacksCommand({ StackName: stack }));
    const outputs = Stacks[0]?.Outputs ?? [];
    return Object.fromEntries(
      outputs.map(({ OutputKey = '', OutputValue = '' }) => [OutputKey, OutputValue]),
    );
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

const isMissing = (error: unknown): boolean =>
  error instanceof Error && error.name === 'ValidationError' && error.message.includes('does not exist');

/** The stacks of a deployment, in the order of their creation. */
export const stackKinds = ['data', 'compute', 'functions', 'api', 'background'] as const;

export type StackKind = (typeof stackKinds)[number];

/**
 * Return the deployment options of a command: `-c` flags override `cdk.json`.
 * @throws CommandError naming every unknown or invalid option
 */
export async function deployedOptions(context?: readonly string[]): Promise<DeploymentOptions> {
  return readOptions({
    ...(await cdkContext(join(import.meta.dirname, '../../..'))),
    ...givenOptions(context),
  });
}

/** Return the client configuration for the deployment's account: its region, or that of the profile. */
export const clientConfig = ({ region }: DeploymentOptions): { region?: string } =>
  region === undefined ? {} : { region };

export const stackName = ({ name }: Pick<DeploymentOptions, 'name'>, kind: StackKind): string =>
  `${name}-${kind}`;

export interface DeployedResource {
  /** Logical id in its template, with the CDK's hash suffix. */
  id: string;
  type: string;
  /** Physical name or id in AWS. */
  name: string;
}

/** Return the resources of a stack, or none if it is not deployed. */
export async function resourcesOf(client: CloudFormationClient, stack: string): Promise<DeployedResource[]> {
  const found: DeployedResource[] = [];
  try {
    for await (const page of paginateListStackResources({ client }, { StackName: stack })) {
      for (const {
        LogicalResourceId: id = '',
        ResourceType: type = '',
        PhysicalResourceId: name = '',
        ResourceStatus,
      } of page.StackResourceSummaries ?? []) {
        if (ResourceStatus !== 'DELETE_COMPLETE') found.push({ id, type, name });
      }
    }
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
  return found;
}

const DataTemplate = z.object({
  Resources: z.record(z.string(), z.object({ Type: z.string(), DeletionPolicy: z.string().optional() })),
});

/** Whether a deletion of the deployed data stack deletes its tables and its bucket. */
export async function deletesData(client: CloudFormationClient, stack: string): Promise<boolean> {
  const { TemplateBody = '{}' } = await client.send(new GetTemplateCommand({ StackName: stack }));
  const { Resources } = DataTemplate.parse(JSON.parse(TemplateBody));
  const bucket = Object.values(Resources).find(({ Type }) => Type === 'AWS::S3::Bucket');
  // CloudFormation deletes resources without a policy.
  return bucket !== undefined && (bucket.DeletionPolicy ?? 'Delete') === 'Delete';
}
