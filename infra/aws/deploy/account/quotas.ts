import type { DeploymentOptions } from '../../options/deployment-options.ts';
import { instances } from '../../options/instances.ts';

/** A quota of the account in its region, and how much of it the options may need. */
export interface Quota {
  service: string;
  code: string;
  name: string;
  needed: number;
  /** vCPUs of the smallest job or node: below it, none can ever start. */
  least: number;
}

type Ec2Quota = Pick<Quota, 'code' | 'name'>;

/** Quotas of vCPUs by family of instance types, first those on demand, then those of Spot. The first that matches counts. */
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

/** Use of each quota by nodes of these types: any node may be of any type. */
function quotasOf(instanceTypes: readonly string[], needed: number, kind: 'onDemand' | 'spot'): Quota[] {
  return instanceTypes.flatMap((type) => {
    const family = families.find(({ types }) => types.test(type));
    const least = instances[type]?.vcpus ?? 1;
    return family === undefined ? [] : [{ service: 'ec2', needed, least, ...family[kind] }];
  });
}

/** Each quota once, with all that different kinds of nodes may need of it. */
function united(groups: readonly (readonly Quota[])[]): Quota[] {
  const byCode = new Map<string, Quota>();
  for (const group of groups) {
    for (const [code, kinds] of Map.groupBy(group, (one) => one.code)) {
      const [quota] = kinds;
      if (quota === undefined) continue;
      const { needed = 0, least: before = 0 } = byCode.get(code) ?? {};
      // Of one kind of nodes the smallest type may do; every kind must be able to start.
      const least = Math.max(before, Math.min(...kinds.map((one) => one.least)));
      byCode.set(code, { ...quota, needed: needed + quota.needed, least });
    }
  }
  return [...byCode.values()];
}

/** The quotas that a deployment with these options runs into. */
export function quotasFor(options: DeploymentOptions): Quota[] {
  const { spot, maxVcpus, clusterMaxVcpus, clusterInstanceTypes, gpuMaxVcpus, gpuInstanceTypes } = options;
  const fargate = spot
    ? { code: 'L-36FBB829', name: 'vCPUs of Fargate Spot' }
    : { code: 'L-3032A538', name: 'vCPUs of Fargate' };
  return [
    { service: 'fargate', needed: maxVcpus, least: 1, ...fargate },
    ...united([
      quotasOf(clusterInstanceTypes, clusterMaxVcpus, 'onDemand'),
      quotasOf(gpuInstanceTypes, clusterMaxVcpus, 'onDemand'),
      quotasOf(gpuInstanceTypes, gpuMaxVcpus, spot ? 'spot' : 'onDemand'),
    ]),
  ];
}
