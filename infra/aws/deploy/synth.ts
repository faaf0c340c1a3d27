import { optionFlags, optionUsage, readFlags } from '../../command/read-flags.ts';
import { runMain } from '../../command/run-main.ts';
import { deployedOptions } from './read-deployment.ts';
import { runCdk } from './run-cdk.ts';

/** `npm run synth`: write the templates of a deployment. */
async function synth(): Promise<number> {
  const { context = [] } = readFlags(usage, { options: optionFlags }).values;
  await deployedOptions(context);
  return runCdk(['synth', '--quiet'], context);
}

const usage = `Usage: npm run synth -- [-c option=value]…
  writes the CloudFormation templates into .build/cdk.out; needs no account
${optionUsage}`;

await runMain(synth);
