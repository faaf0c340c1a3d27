import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { IAMClient } from '@aws-sdk/client-iam';
import { ServiceQuotasClient } from '@aws-sdk/client-service-quotas';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { type CostingThing, costingNow } from './costing-now.ts';
import { deployedOptions, placeOf, resourcesOf, runCommand, stackKinds, stackName } from './deployed.ts';
import {
  checkBootstrap,
  checkIdentity,
  checkImageTool,
  checkLinkedRoles,
  checkQuotas,
  type Finding,
} from './prerequisites.ts';

const marks = { good: '  ok      ', note: '  note    ', problem: '  PROBLEM ' } as const;
const line = ({ outcome, what }: Finding): string => `${marks[outcome]}${what}\n`;

function costLine({ what, monthly }: CostingThing): string {
  const cost = monthly === undefined ? 'by the hour' : `US$ ${monthly.toFixed(2)} a month`;
  return `  ${what}: ${cost}\n`;
}

/** `npm run doctor`: whether the account is ready for a deployment, and what costs money in it now. */
async function doctor(): Promise<number> {
  const options = await deployedOptions();
  const place = placeOf(options);
  const formation = new CloudFormationClient(place);
  const identity = new STSClient(place);
  const findings = [
    await checkIdentity(identity),
    await checkBootstrap(formation),
    checkImageTool(),
    ...(await checkLinkedRoles(new IAMClient(place))),
    ...(await checkQuotas(new ServiceQuotasClient(place), options)),
  ];
  process.stdout.write(`Ready to deploy:\n${findings.map(line).join('')}`);

  const deployed = (
    await Promise.all(stackKinds.map((kind) => resourcesOf(formation, stackName(options, kind))))
  ).flat();
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

await runCommand(doctor);
