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

/**
 * Return the resources of a stack, or none if it is not deployed. Those that a failed creation has kept are no longer of the
 * stack, which the next deployment makes anew.
 */
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
        if (!goneStatuses.includes(String(ResourceStatus))) found.push({ id, type, name });
      }
    }
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
  return found;
}

export const DeployedTemplate = z.looseObject({
  Parameters: z.record(z.string(), z.unknown()).optional(),
  Resources: z.record(
    z.string(),
    z.looseObject({
      Type: z.string(),
      DeletionPolicy: z.string().optional(),
      Properties: z.record(z.string(), z.unknown()).optional(),
    }),
  ),
});
export type DeployedTemplate = z.infer<typeof DeployedTemplate>;

/** Return the template of a stack as it was deployed, or undefined if the stack has no resources. */
export async function deployedTemplate(
  client: CloudFormationClient,
  stack: string,
): Promise<DeployedTemplate | undefined> {
  if ((await resourcesOf(client, stack)).length === 0) return undefined;
  const { TemplateBody = '{}' } = await client.send(
    new GetTemplateCommand({ StackName: stack, TemplateStage: 'Original' }),
  );
  return DeployedTemplate.parse(JSON.parse(TemplateBody));
}

const goneStatuses = ['DELETE_COMPLETE', 'DELETE_SKIPPED'];

/** Whether a deletion of the deployed data stack deletes its tables and its bucket. */
export async function deletesData(client: CloudFormationClient, stack: string): Promise<boolean> {
  const { Resources = {} } = (await deployedTemplate(client, stack)) ?? {};
  const bucket = Object.values(Resources).find(({ Type }) => Type === 'AWS::S3::Bucket');
  // CloudFormation deletes resources without a policy.
  return bucket !== undefined && (bucket.DeletionPolicy ?? 'Delete') === 'Delete';
}
