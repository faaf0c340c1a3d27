import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { CommandError } from '../../command/command-error.ts';
import { optionFlags, optionUsage, readFlags } from '../../command/read-flags.ts';
import { runMain } from '../../command/run-main.ts';
import type { DeploymentOptions } from '../options/deployment-options.ts';
import { minConcurrency } from '../options/request-burst.ts';
import { callersAccount, concurrencyQuota } from './account.ts';
import { adopt, adoptedData, refuseForgotten } from './adopt.ts';
import { checkReadiness } from './checks/readiness.ts';
import { keptSubnets } from './kept-subnets.ts';
import { moveApi } from './move-api.ts';
import { clientConfig, deployedOptions, stackName } from './read-deployment.ts';
import { runCdk } from './run-cdk.ts';

/** `npm run deploy`: deploy the service, or update a deployment. */
async function deploy(): Promise<number> {
  const flags = {
    ...optionFlags,
    ...adoptFlags,
    yes: { type: 'boolean' },
    'skip-checks': { type: 'boolean' },
    'start-empty': { type: 'boolean' },
  } as const;
  const { context = [], yes = false, ...given } = readFlags(usage, { options: flags }).values;
  const adopted = adoptedData({
    accounts: given['adopt-accounts'],
    records: given['adopt-records'],
    bucket: given['adopt-bucket'],
  });
  const options = await deployedOptions(context);
  const { id, region } = await callersAccount(options);
  process.stderr.write(`Deploying ${options.name} into account ${id}, ${region}\n`);
  const config = clientConfig(options);
  const quota = await concurrencyQuota(new LambdaClient(config));
  if (given['skip-checks'] !== true) await requireReadiness(options, quota);
  if (adopted !== undefined) {
    const status = await adopt(adopted, options, context);
    if (status !== 0) return status;
  } else if (given['start-empty'] !== true) {
    await refuseForgotten(options);
  }
  const cloudFormation = new CloudFormationClient(config);
  const subnets = await keptSubnets(cloudFormation, stackName(options, 'compute'));
  const cdkOptions = [...context, ...concurrencyOption(options, quota), ...subnets];
  const approval = yes ? ['--require-approval', 'never'] : [];
  const moved = await moveApi(cloudFormation, stackName(options, 'api'), approval, cdkOptions);
  return moved === 0 ? runCdk(['deploy', '--all', ...approval], cdkOptions) : moved;
}

const adoptFlags = {
  'adopt-accounts': { type: 'string' },
  'adopt-records': { type: 'string' },
  'adopt-bucket': { type: 'string' },
} as const;

const usage = `Usage: npm run deploy -- [-c option=value]… [--yes] [--skip-checks] [--adopt-… <name> | --start-empty]
  deploys the service to the account of the AWS credentials, or updates a deployment, and prints its URL
${optionUsage}
  --yes             do not ask before permissions are extended, for use in CI
  --skip-checks     do not check bootstrap, image tool, quotas and zones first, for use in CI
  --adopt-accounts, --adopt-records, --adopt-bucket
                    adopt these tables and this bucket from an earlier deployment or a backup;
                    needed once, for a new deployment
  --start-empty     ignore the data of an earlier deployment`;

/** @throws CommandError naming everything that would stop the deployment halfway */
async function requireReadiness(options: DeploymentOptions, quota: number | undefined): Promise<void> {
  const problems = (await checkReadiness(options, quota)).filter(({ outcome }) => outcome === 'problem');
  if (problems.length === 0) return;
  const lines = problems.map(({ what }) => `  ${what}`).join('\n');
  throw new CommandError(`Nothing was deployed:\n${lines}\nTo deploy all the same: --skip-checks`);
}

/** Return the quota of concurrent functions as an option. It sets the request burst of the stage. */
function concurrencyOption(options: DeploymentOptions, quota: number | undefined): string[] {
  if (options.concurrentFunctions !== undefined) return [];
  if (quota === undefined) {
    process.stderr.write(
      `The quota of concurrent functions could not be read (lambda:GetAccountSettings); assuming ${minConcurrency}.\n`,
    );
    return [];
  }
  return [`concurrentFunctions=${quota}`];
}

await runMain(deploy);
