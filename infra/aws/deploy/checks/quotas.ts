import { GetServiceQuotaCommand, type ServiceQuotasClient } from '@aws-sdk/client-service-quotas';
import type { DeploymentOptions } from '../../options/deployment-options.ts';
import { instances } from '../../options/instances.ts';
import { fullBurstConcurrency } from '../../options/request-burst.ts';
import { type CheckResult, good, note, problem } from './check-result.ts';

/** Compare the quotas of the account with the vCPUs that the options allow. */
export const checkQuotas = (
  client: ServiceQuotasClient,
  options: DeploymentOptions,
): Promise<CheckResult[]> => compareQuotas(client, quotasFor(options), 'the options allow');

/**
 * @param client of the account; undefined without one: then only what is needed is said
 * @param whose who needs as much, such as `the options allow`
 */
export async function compareQuotas(
  client: ServiceQuotasClient | undefined,
  quotas: readonly Quota[],
  whose: string,
): Promise<CheckResult[]> {
  return Promise.all(
    quotas.map(async ({ service, code, name, needed, least }) => {
      if (client === undefined) return note(`quota: ${whose} ${needed} ${name} (${code})`);
      try {
        const { Quota } = await client.send(
          new GetServiceQuotaCommand({ ServiceCode: service, QuotaCode: code }),
        );
        const value = Quota?.Value ?? 0;
        if (value < least)
          return problem(
            `quota: ${value} ${name}, but the smallest job or node needs ${least}, so none can start. Request an increase in Service Quotas (${code})`,
          );
        return value >= needed
          ? good(`quota: ${value} ${name}`)
          : note(
              `quota: ${value} ${name}, but ${whose} ${needed}; jobs beyond the quota wait. Request an increase in Service Quotas (${code})`,
            );
      } catch (error) {
        return note(`quota of ${name} could not be read: ${error instanceof Error ? error.name : ''}`);
      }
    }),
  );
}

/** The quotas that limit a deployment with these options. */
export function quotasFor(options: DeploymentOptions): Quota[] {
  const { spot, maxVcpus, clusterMaxVcpus, clusterInstanceTypes, gpuMaxVcpus, gpuInstanceTypes } = options;
  return [
    ...trainingQuotas(options).map((quota) => ({ ...quota, needed: maxVcpus, least: 1 })),
    ...sumByCode([
      quotasOf(clusterInstanceTypes, clusterMaxVcpus, 'onDemand'),
      quotasOf(gpuInstanceTypes, clusterMaxVcpus, 'onDemand'),
      quotasOf(gpuInstanceTypes, gpuMaxVcpus, 'onDemand'),
      ...(spot ? [quotasOf(gpuInstanceTypes, gpuMaxVcpus, 'spot')] : []),
    ]),
  ];
}

/** Return the quotas that trainings on one container use. What Spot interrupts goes on demand, all at once at worst. */
export const trainingQuotas = ({ spot }: Pick<DeploymentOptions, 'spot'>) => [
  { service: 'fargate', code: 'L-3032A538', name: 'vCPUs of Fargate' },
  ...(spot ? [{ service: 'fargate', code: 'L-36FBB829', name: 'vCPUs of Fargate Spot' }] : []),
];

/** A quota of the account in its region, and its maximum usage. */
export interface Quota {
  service: string;
  code: string;
  name: string;
  needed: number;
  /** vCPUs of the smallest job or node. With a lower quota, none can start. */
  least: number;
}

/** Sum the usage of each quota over the kinds of nodes. */
function sumByCode(groups: readonly (readonly Quota[])[]): Quota[] {
  const byCode = new Map<string, Quota>();
  for (const group of groups) {
    for (const [code, kinds] of Map.groupBy(group, (one) => one.code)) {
      const [quota] = kinds;
      if (quota === undefined) continue;
      const { needed = 0, least: before = 0 } = byCode.get(code) ?? {};
      // One kind can start with its smallest type, but every kind must be able to start.
      const least = Math.max(before, Math.min(...kinds.map((kind) => kind.least)));
      byCode.set(code, { ...quota, needed: needed + quota.needed, least });
    }
  }
  return [...byCode.values()];
}

/** Return the quotas for nodes of these types. Any node may have any type. */
function quotasOf(instanceTypes: readonly string[], needed: number, kind: 'onDemand' | 'spot'): Quota[] {
  return instanceTypes.flatMap((type) => {
    const family = families.find(({ types }) => types.test(type));
    const least = instances[type]?.vcpus ?? 1;
    return family === undefined ? [] : [{ service: 'ec2', needed, least, ...family[kind] }];
  });
}

/** vCPU quotas by family of instance types. The first match counts. */
const families: readonly { types: RegExp; onDemand: Ec2Quota; spot: Ec2Quota }[] = [
  {
    types: /^gr?\d|^vt/,
    onDemand: { code: 'L-DB2E81BA', name: 'vCPUs of EC2 instances G and VT' },
    spot: { code: 'L-3819A6DF', name: 'vCPUs of Spot instances G and VT' },
  },
  {
    types: /^p5/,
    onDemand: { code: 'L-417A185B', name: 'vCPUs of EC2 instances P' },
    spot: { code: 'L-C4BD4855', name: 'vCPUs of Spot instances P5' },
  },
  {
    types: /^p\d/,
    onDemand: { code: 'L-417A185B', name: 'vCPUs of EC2 instances P' },
    spot: { code: 'L-7212CCBC', name: 'vCPUs of Spot instances P2, P3 and P4' },
  },
  {
    types: /^[acdhimrtz]\d/,
    onDemand: { code: 'L-1216C47A', name: 'vCPUs of standard EC2 instances' },
    spot: { code: 'L-34B43A08', name: 'vCPUs of standard Spot instances' },
  },
];

type Ec2Quota = Pick<Quota, 'code' | 'name'>;

export const askForMore = 'Request an increase in Service Quotas (Lambda, L-B99A9384)';

/** Compare the quota of concurrent functions with the request burst of the stage. */
export function checkConcurrency(
  quota: number | undefined,
  { requestBurst, concurrentFunctions }: DeploymentOptions,
): CheckResult {
  if (quota === undefined) {
    return note(
      `quota of concurrent functions: could not be read (lambda:GetAccountSettings); a burst of ${requestBurst} requests needs ${2 * requestBurst}`,
    );
  }
  if (concurrentFunctions !== undefined && concurrentFunctions > quota) {
    return problem(
      `quota: ${quota} concurrent functions, but the option concurrentFunctions is ${concurrentFunctions}: remove it, or requests get 503. ${askForMore}`,
    );
  }
  if (requestBurst > quota) {
    return problem(
      `quota: ${quota} concurrent functions, but requestBurst lets ${requestBurst} requests through: those beyond the quota get 503. ${askForMore}`,
    );
  }
  if (quota < fullBurstConcurrency) {
    return note(
      `quota: ${quota} concurrent functions, below ${fullBurstConcurrency}: the deployment accepts small bursts only, further requests get 429. ${askForMore}`,
    );
  }
  return good(`quota: ${quota} concurrent functions`);
}
