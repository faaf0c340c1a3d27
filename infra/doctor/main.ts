import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { IAMClient } from '@aws-sdk/client-iam';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { ServiceQuotasClient } from '@aws-sdk/client-service-quotas';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { CommandError } from '../command/command-error.ts';
import { optionFlags, optionUsage } from '../command/option-flags.ts';
import { readFlags } from '../command/read-flags.ts';
import { runMain } from '../command/run-main.ts';
import { checkRuntime } from '../deploy/check-runtime.ts';
import { checkConcurrency, concurrencyQuota } from '../deploy/concurrency.ts';
import { type CostingThing, costingNow } from '../deploy/costing-now.ts';
import {
  clientConfig,
  deployedOptions,
  outputsOf,
  resourcesOf,
  stackKinds,
  stackName,
} from '../deploy/deployed.ts';
import {
  checkBootstrap,
  checkIdentity,
  checkImageTool,
  checkLinkedRoles,
  checkQuotas,
  type Finding,
} from '../deploy/prerequisites.ts';
import type { DeploymentOptions } from '../deployment-options.ts';
import type { OrphanSearch } from './orphan-search.ts';
import { reportOrphans } from './report-orphans.ts';
import { searchDeployment } from './search-deployment.ts';
import { searchFolder } from './search-folder.ts';

const marks = { good: '  ok      ', note: '  note    ', problem: '  PROBLEM ' } as const;
const line = ({ outcome, what }: Finding): string => `${marks[outcome]}${what}\n`;

function costLine({ what, monthly }: CostingThing): string {
  const cost = monthly === undefined ? 'by the hour' : `US$ ${monthly.toFixed(2)} a month`;
  return `  ${what}: ${cost}\n`;
}

/** Whether the account is ready for a deployment, and what costs money in it now. */
async function examineAccount(options: DeploymentOptions): Promise<number> {
  const config = clientConfig(options);
  const formation = new CloudFormationClient(config);
  const identity = new STSClient(config);
  const findings = [
    await checkIdentity(identity),
    await checkBootstrap(formation),
    checkImageTool(),
    ...(await checkLinkedRoles(new IAMClient(config), options)),
    ...(await checkQuotas(new ServiceQuotasClient(config), options)),
    checkConcurrency(await concurrencyQuota(new LambdaClient(config)), options),
  ];
  process.stdout.write(`Ready to deploy:\n${findings.map(line).join('')}`);

  const deployed = (
    await Promise.all(stackKinds.map((kind) => resourcesOf(formation, stackName(options, kind))))
  ).flat();
  const background = await outputsOf(formation, stackName(options, 'background'));
  const firstAdmin = background?.['FirstAdminFunction'];
  if (firstAdmin !== undefined) {
    const runtime = await checkRuntime(new LambdaClient(config), firstAdmin);
    findings.push(runtime);
    process.stdout.write(`Deployed:\n${line(runtime)}`);
  }
  if (deployed.length === 0) {
    process.stdout.write('Costing money now: nothing, the service is not deployed here.\n');
  } else {
    const { Account = '' } = await identity.send(new GetCallerIdentityCommand({}));
    const region = await formation.config.region();
    const things = await costingNow(deployed, { region, account: Account });
    process.stdout.write(`Costing money now:\n${things.map(costLine).join('')}`);
  }
  return findings.some(({ outcome }) => outcome === 'problem') ? 1 : 0;
}

/** Whether anything is left over, in a data folder of this machine or in the account. */
async function examineStores(searching: Promise<OrphanSearch>): Promise<number> {
  using search = await searching;
  const { found, text } = reportOrphans(search.findings(), search.counts);
  process.stdout.write(text);
  return found === 0 ? 0 : 1;
}

const usage = `Usage: npm run doctor -- [-c option=value]… [--orphans [--local <data folder>]]
  says whether the account is ready for a deployment, and what costs money in it now
${optionUsage}
  --orphans  look whether anything is left over in the tables and the bucket, instead of at the account
  --local    the same in a data folder of npm start, which must be stopped`;

/** `npm run doctor`: the account and what costs money in it; or, with `--orphans`, orphans in the tables and the bucket. */
async function doctor(): Promise<number> {
  const flags = { ...optionFlags, orphans: { type: 'boolean' }, local: { type: 'string' } } as const;
  const { context, orphans = false, local } = readFlags(usage, { options: flags }).values;
  if (local !== undefined && !orphans) throw new CommandError(usage);
  if (local !== undefined) return examineStores(searchFolder(local));
  const options = await deployedOptions(context);
  return orphans ? examineStores(searchDeployment(options)) : examineAccount(options);
}

await runMain(doctor);
