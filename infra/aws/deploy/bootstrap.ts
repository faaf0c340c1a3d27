import { optionFlags, optionUsage, readFlags } from '../../command/read-flags.ts';
import { runMain } from '../../command/run-main.ts';
import type { DeploymentOptions } from '../options/deployment-options.ts';
import { callersAccount } from './account.ts';
import { deployedOptions } from './read-deployment.ts';
import { runCdk } from './run-cdk.ts';

/** `npm run bootstrap`: prepare an account and region for deployments, with the CDK version of the lock file. */
async function bootstrap(): Promise<number> {
  const { context = [] } = readFlags(usage, { options: optionFlags }).values;
  const options = await deployedOptions(context);
  const { id, region } = await callersAccount(options);
  return runCdk(['bootstrap', `aws://${id}/${region}`, ...bootstrapFlags(options)]);
}

const usage = `Usage: npm run bootstrap -- [-c option=value]…
  creates the roles, the bucket and the repository that the CDK needs to deploy; run it once per account and region
${optionUsage}`;

function bootstrapFlags({ permissionsBoundary, tags }: DeploymentOptions): string[] {
  return [
    ...(permissionsBoundary === undefined ? [] : ['--custom-permissions-boundary', permissionsBoundary]),
    ...Object.entries(tags).flatMap(([key, value]) => ['--tags', `${key}=${value}`]),
  ];
}

await runMain(bootstrap);
