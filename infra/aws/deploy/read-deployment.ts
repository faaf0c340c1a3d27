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

/** The outputs of a stack; undefined where it is not deployed. */
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

/** The stacks of a deployment, in the order in which they are made. */
export const stackKinds = ['data', 'compute', 'functions', 'api', 'background'] as const;

export type StackKind = (typeof stackKinds)[number];

/**
 * Return the options of a command about a deployment: those of its `-c` flags, then those of `cdk.json`.
 * @throws CommandError naming every option that is unknown or bad
 */
export async function deployedOptions(context?: readonly string[]): Promise<DeploymentOptions> {
  return readOptions({
    ...(await cdkContext(join(import.meta.dirname, '../../..'))),
    ...givenOptions(context),
  });
}

/** Configuration of clients of the deployment's account: its region, or that of the profile. */
export const clientConfig = ({ region }: DeploymentOptions): { region?: string } =>
  region === undefined ? {} : { region };

export const stackName = ({ name }: Pick<DeploymentOptions, 'name'>, kind: StackKind): string =>
  `${name}-${kind}`;

export interface DeployedResource {
  /** Name in its template, with the digest that the CDK puts behind it. */
  id: string;
  type: string;
  /** Its name or id in AWS. */
  name: string;
}

/** Resources of a stack; none where it is not deployed. */
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

/** Whether the deployed data stack deletes its tables and its bucket when it is deleted. */
export async function deletesData(client: CloudFormationClient, stack: string): Promise<boolean> {
  const { TemplateBody = '{}' } = await client.send(new GetTemplateCommand({ StackName: stack }));
  const { Resources } = DataTemplate.parse(JSON.parse(TemplateBody));
  const bucket = Object.values(Resources).find(({ Type }) => Type === 'AWS::S3::Bucket');
  // Without a policy CloudFormation deletes.
  return bucket !== undefined && (bucket.DeletionPolicy ?? 'Delete') === 'Delete';
}
