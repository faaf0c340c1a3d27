import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { EC2Client } from '@aws-sdk/client-ec2';
import { IAMClient } from '@aws-sdk/client-iam';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { ServiceQuotasClient } from '@aws-sdk/client-service-quotas';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { concurrencyQuota } from '../../deploy/account.ts';
import { clientConfig, outputsOf, resourcesOf, stackKinds, stackName } from '../../deploy/read-deployment.ts';
import type { DeploymentOptions } from '../../options/deployment-options.ts';
import type { CheckResult } from './check-result.ts';
import { type Cost, currentCosts } from './costs.ts';
import {
  checkBootstrap,
  checkIdentity,
  checkImageTool,
  checkLinkedRoles,
  checkRuntime,
} from './prerequisites.ts';
import { checkConcurrency, checkQuotas } from './quotas.ts';
import { checkZones } from './zones.ts';

/** Print whether the account is ready for a deployment, and current costs. Return 1 if there is a problem. */
export async function examineAccount(options: DeploymentOptions): Promise<number> {
  const config = clientConfig(options);
  const formation = new CloudFormationClient(config);
  const identity = new STSClient(config);
  const results = [
    await checkIdentity(identity),
    await checkBootstrap(formation),
    checkImageTool(),
    ...(await checkLinkedRoles(new IAMClient(config), options)),
    ...(await checkQuotas(new ServiceQuotasClient(config), options)),
    ...(await checkZones(new EC2Client(config), options)),
    checkConcurrency(await concurrencyQuota(new LambdaClient(config)), options),
  ];
  process.stdout.write(`Ready to deploy:\n${results.map(line).join('')}`);

  const deployed = (
    await Promise.all(stackKinds.map((kind) => resourcesOf(formation, stackName(options, kind))))
  ).flat();
  const background = await outputsOf(formation, stackName(options, 'background'));
  const firstAdmin = background?.['FirstAdminFunction'];
  if (firstAdmin !== undefined) {
    const runtime = await checkRuntime(new LambdaClient(config), firstAdmin);
    results.push(runtime);
    process.stdout.write(`Deployed:\n${line(runtime)}`);
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

const marks = { good: '  ok      ', note: '  note    ', problem: '  PROBLEM ' } as const;

const line = ({ outcome, what }: CheckResult): string => `${marks[outcome]}${what}\n`;

function costLine({ what, monthly }: Cost): string {
  const cost = monthly === undefined ? 'by the hour' : `US$ ${monthly.toFixed(2)} a month`;
  return `  ${what}: ${cost}\n`;
}
