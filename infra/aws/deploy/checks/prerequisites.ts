import { spawnSync } from 'node:child_process';
import type { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { GetRoleCommand, type IAMClient } from '@aws-sdk/client-iam';
import { InvokeCommand, type LambdaClient } from '@aws-sdk/client-lambda';
import { GetCallerIdentityCommand, type STSClient } from '@aws-sdk/client-sts';
import { RuntimeReport } from '../../../../shared/accounts/hashing-runtime.ts';
import type { DeploymentOptions } from '../../options/deployment-options.ts';
import { outputsOf } from '../read-deployment.ts';
import { type CheckResult, good, note, problem } from './check-result.ts';

/** Ask a deployed function whether its runtime can hash passwords. AWS updates runtimes without notice. */
export async function checkRuntime(client: LambdaClient, functionName: string): Promise<CheckResult> {
  const { Payload, FunctionError } = await client.send(
    new InvokeCommand({ FunctionName: functionName, Payload: Buffer.from('{"check":"runtime"}') }),
  );
  const text = Buffer.from(Payload ?? []).toString('utf8');
  if (FunctionError !== undefined) {
    return problem(`the functions cannot hash passwords (${needed}): ${text}`);
  }
  return checkRuntimeReport(RuntimeReport.parse(JSON.parse(text)));
}

/** Requirement of the function that hashes passwords. */
const needed = 'argon2 needs Node 24.7 or newer with OpenSSL 3.2 or newer';

export function checkRuntimeReport({ node, openssl, failure }: Omit<RuntimeReport, 'outcome'>): CheckResult {
  const runtime = `Node ${node} with OpenSSL ${openssl}`;
  return failure === undefined
    ? good(`the functions run on ${runtime}, which hashes passwords`)
    : problem(`the functions run on ${runtime}, but ${needed}: ${failure}`);
}

export async function checkIdentity(client: STSClient): Promise<CheckResult> {
  const { Account, Arn } = await client.send(new GetCallerIdentityCommand({}));
  return good(`account ${Account}, as ${Arn}, in ${await client.config.region()}`);
}

/** Lowest version of the bootstrap stack that templates of this CDK accept. */
const bootstrapVersion = 6;

export async function checkBootstrap(client: CloudFormationClient): Promise<CheckResult> {
  const outputs = await outputsOf(client, 'CDKToolkit');
  if (outputs === undefined)
    return problem('the account is not bootstrapped in this region; run npm run bootstrap');
  const version = Number(outputs['BootstrapVersion']);
  return version >= bootstrapVersion
    ? good(`bootstrapped, version ${version}`)
    : problem(
        `bootstrapped with version ${version}, but version ${bootstrapVersion} is required; run npm run bootstrap`,
      );
}

/** Check the tool that builds the job image during a deployment. */
export function checkImageTool(): CheckResult {
  const tool = process.env['CDK_DOCKER'] ?? 'docker';
  const { status, stdout } = spawnSync(tool, ['version', '--format', '{{.Server.Version}}'], {
    encoding: 'utf8',
  });
  return status === 0
    ? good(`${tool} ${stdout.trim()} builds the job image`)
    : problem(`${tool} does not run, so the job image cannot be built. Set CDK_DOCKER to use another tool`);
}

export async function checkLinkedRoles(
  client: IAMClient,
  options: DeploymentOptions,
): Promise<CheckResult[]> {
  return Promise.all(
    linkedRoles(options).map(async (RoleName) => {
      try {
        await client.send(new GetRoleCommand({ RoleName }));
        return good(`service-linked role ${RoleName}`);
      } catch (error) {
        if (!(error instanceof Error && error.name.startsWith('NoSuchEntity'))) throw error;
        return note(
          `no service-linked role ${RoleName} yet; the first deployment creates it (needs iam:CreateServiceLinkedRole)`,
        );
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
