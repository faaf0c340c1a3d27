import type { ServiceQuotasClient } from '@aws-sdk/client-service-quotas';
import { type CheckResult, good, note } from '../deploy/checks/check-result.ts';
import { askForMore, compareQuotas, type Quota, trainingQuotas } from '../deploy/checks/quotas.ts';
import type { DeploymentOptions } from '../options/deployment-options.ts';
import { fullBurstConcurrency } from '../options/request-burst.ts';
import { newSubnetMask } from '../options/subnet-mask.ts';

/**
 * Return what so many trainings of one vCPU at once need, beside what the account and the options have.
 * @param client of the account; undefined without one: then only what is needed is said
 * @param concurrency quota of concurrent functions; undefined if the caller may not read it
 */
export async function checkForJobs(
  client: ServiceQuotasClient | undefined,
  options: DeploymentOptions,
  { jobs, concurrency }: { jobs: number; concurrency: number | undefined },
): Promise<CheckResult[]> {
  const interfaces = {
    service: 'vpc',
    code: 'L-DF5E4CA3',
    name: 'network interfaces',
    needed: jobs,
    least: 1,
  };
  const quotas: Quota[] = [
    ...trainingQuotas(options).map((quota) => ({ ...quota, needed: jobs, least: 1 })),
    interfaces,
  ];
  return [
    ...(await compareQuotas(client, quotas, `${jobs} jobs need`)),
    client === undefined
      ? note(`quota: ${fullBurstConcurrency} concurrent functions are needed (Lambda, L-B99A9384)`)
      : checkFunctions(concurrency),
    ...sizeOptions.map((name) =>
      options[name] >= jobs
        ? good(`option: ${name} ${options[name]}`)
        : note(`option: ${name} ${options[name]}, but ${jobs} jobs need ${jobs}: -c ${name}=${jobs}`),
    ),
    ...(options.vpcId === undefined ? [checkAddresses(options, jobs)] : []),
    checkTable(jobs),
    note(
      `AWS Batch takes ${submissionsPerSecond} submissions a second, which cannot be raised: ${jobs} jobs take ${Math.ceil(jobs / submissionsPerSecond)} s`,
    ),
  ];
}

const sizeOptions = ['maxVcpus', 'limitVcpus'] as const;

const submissionsPerSecond = 50;

/** Events of jobs start functions, at most as many at once as half of this; the other half is for requests. */
function checkFunctions(concurrency: number | undefined): CheckResult {
  const needed = fullBurstConcurrency;
  if (concurrency === undefined)
    return note(
      `quota of concurrent functions: could not be read (lambda:GetAccountSettings); ${needed} are needed`,
    );
  return concurrency >= needed
    ? good(`quota: ${concurrency} concurrent functions`)
    : note(`quota: ${concurrency} concurrent functions, but ${needed} are needed. ${askForMore}`);
}

/** Addresses of the deployment's own subnets, of which each job takes one. */
function checkAddresses({ zones }: DeploymentOptions, jobs: number): CheckResult {
  const addresses = (zones.length || 2) * (2 ** (32 - newSubnetMask(zones)) - 5);
  const what = `addresses: ${addresses} in the subnets of a new deployment; one of an earlier release has 8,182 in two zones`;
  return addresses >= jobs ? good(what) : note(`${what}, but ${jobs} jobs need ${jobs}: name more zones`);
}

/** Write units of a job each second, by `npm run proof -- simulate`. */
const writesPerJob = 0.75;

/** Write units a second that a new table on demand takes at once. */
const newTableWrites = 4_000;

function checkTable(jobs: number): CheckResult {
  const writes = Math.ceil(jobs * writesPerJob);
  return writes <= newTableWrites
    ? good(`table: ${writes} write units a second, of the ${newTableWrites} that a new table takes`)
    : note(
        `table: ${writes} write units a second, but a new table takes ${newTableWrites} at once. Prepare the records table: aws dynamodb update-table --table-name <records table> --warm-throughput ReadUnitsPerSecond=12000,WriteUnitsPerSecond=${writes}`,
      );
}
