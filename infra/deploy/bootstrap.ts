import { optionFlags, optionUsage } from '../command/option-flags.ts';
import { readFlags } from '../command/read-flags.ts';
import { runCommand } from '../command/run-command.ts';
import { callersAccount } from './account.ts';
import { deployedOptions } from './deployed.ts';
import { runCdk } from './run-cdk.ts';

const usage = `Usage: npm run bootstrap -- [-c option=value]…
  makes the roles, the bucket and the repository by which the CDK deploys; once for each account and region
${optionUsage}`;

/** `npm run bootstrap`: prepares an account and region for deployments, by the CDK that the lock file pins. */
async function bootstrap(): Promise<number> {
  const { context = [] } = readFlags(usage, { options: optionFlags }).values;
  const { id, region } = await callersAccount(await deployedOptions(context));
  return runCdk(['bootstrap', `aws://${id}/${region}`]);
}

await runCommand(bootstrap);
