import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { ServiceQuotasClient } from '@aws-sdk/client-service-quotas';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { concurrencyQuota } from '../deploy/account.ts';
import { type CheckResult, note } from '../deploy/checks/check-result.ts';
import { checkRuntime } from '../deploy/checks/prerequisites.ts';
import { checkReadiness } from '../deploy/checks/readiness.ts';
import { clientConfig, outputsOf, resourcesOf, stackKinds, stackName } from '../deploy/read-deployment.ts';
import type { DeploymentOptions } from '../options/deployment-options.ts';
import { type Cost, currentCosts } from './costs.ts';
import { checkForJobs } from './for-jobs.ts';
import { checkProtections } from './protections.ts';

/**
 * Print whether the account is ready for a deployment, and current costs. Return 1 if there is a problem.
 * @param jobs also print what so many jobs at once need
 */
export async function examineAccount(options: DeploymentOptions, jobs?: number): Promise<number> {
  const config = clientConfig(options);
  const formation = new CloudFormationClient(config);
  const identity = new STSClient(config);
  const lambda = new LambdaClient(config);
  const concurrency = await concurrencyQuota(lambda);
  const results = await checkReadiness(options, concurrency);
  process.stdout.write(`Ready to deploy:\n${results.map(line).join('')}`);
  if (jobs !== undefined) await printNeeds(new ServiceQuotasClient(config), options, { jobs, concurrency });

  const deployed = (
    await Promise.all(stackKinds.map((kind) => resourcesOf(formation, stackName(options, kind))))
  ).flat();
  const background = await outputsOf(formation, stackName(options, 'background'));
  const firstAdmin = background?.['FirstAdminFunction'];
  if (firstAdmin !== undefined) {
    const present = [
      await checkRuntime(lambda, firstAdmin),
      ...(await checkProtections(formation, stackName(options, 'data'))),
      ...(options.alarms && options.alarmEmail === undefined
        ? [note('nobody gets a mail about alarms and costs; deploy with -c alarmEmail=you@example.org')]
        : []),
    ];
    results.push(...present);
    process.stdout.write(`Deployed:\n${present.map(line).join('')}`);
  }
  if (deployed.length === 0) {
    process.stdout.write('Current costs: none, because the service is not deployed here.\n');
  } else {
    const { Account = '' } = await identity.send(new GetCallerIdentityCommand({}));
    const region = await formation.config.region();
    const costs = await currentCosts(deployed, { region, account: Account });
    process.stdout.write(`Current costs:\n${costs.map(costLine).join('')}`);
  }
  return results.some(({ outcome }) => outcome === 'problem') ? 1 : 0;
}

async function printNeeds(...[client, options, { jobs, concurrency }]: Parameters<typeof checkForJobs>) {
  const needs = await checkForJobs(client, options, { jobs, concurrency });
  const beside = client === undefined ? ', without an account to compare with' : '';
  process.stdout.write(`For ${jobs} jobs at once${beside}:\n${needs.map(line).join('')}`);
}

/** Print what so many jobs at once need, for somebody who has no account yet. */
export const printNeedsAlone = (options: DeploymentOptions, jobs: number): Promise<void> =>
  printNeeds(undefined, options, { jobs, concurrency: undefined });

const marks = { good: '  ok      ', note: '  note    ', problem: '  PROBLEM ' } as const;

const line = ({ outcome, what }: CheckResult): string => `${marks[outcome]}${what}\n`;

function costLine({ what, monthly }: Cost): string {
  const cost = monthly === undefined ? 'by the hour' : `US$ ${monthly.toFixed(2)} a month`;
  return `  ${what}: ${cost}\n`;
}
