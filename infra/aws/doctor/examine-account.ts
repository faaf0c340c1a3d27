import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { EC2Client } from '@aws-sdk/client-ec2';
import { IAMClient } from '@aws-sdk/client-iam';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { ServiceQuotasClient } from '@aws-sdk/client-service-quotas';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { checkRuntime } from '../deploy/account/check-runtime.ts';
import { checkConcurrency, concurrencyQuota } from '../deploy/account/concurrency.ts';
import { type CostingThing, costingNow } from '../deploy/account/costing-now.ts';
import type { Finding } from '../deploy/account/finding.ts';
import {
  checkBootstrap,
  checkIdentity,
  checkImageTool,
  checkLinkedRoles,
  checkQuotas,
} from '../deploy/account/prerequisites.ts';
import { checkZones } from '../deploy/account/zones.ts';
import { clientConfig, outputsOf, resourcesOf, stackKinds, stackName } from '../deploy/read-deployment.ts';
import type { DeploymentOptions } from '../options/deployment-options.ts';

const marks = { good: '  ok      ', note: '  note    ', problem: '  PROBLEM ' } as const;
const line = ({ outcome, what }: Finding): string => `${marks[outcome]}${what}\n`;

function costLine({ what, monthly }: CostingThing): string {
  const cost = monthly === undefined ? 'by the hour' : `US$ ${monthly.toFixed(2)} a month`;
  return `  ${what}: ${cost}\n`;
}

/** Whether the account is ready for a deployment, and what costs money in it now. */
export async function examineAccount(options: DeploymentOptions): Promise<number> {
  const config = clientConfig(options);
  const formation = new CloudFormationClient(config);
  const identity = new STSClient(config);
  const findings = [
    await checkIdentity(identity),
    await checkBootstrap(formation),
    checkImageTool(),
    ...(await checkLinkedRoles(new IAMClient(config), options)),
    ...(await checkQuotas(new ServiceQuotasClient(config), options)),
    ...(await checkZones(new EC2Client(config), options)),
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
