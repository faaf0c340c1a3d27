import {
  DescribeAvailabilityZonesCommand,
  DescribeSubnetsCommand,
  type EC2Client,
  paginateDescribeInstanceTypeOfferings,
} from '@aws-sdk/client-ec2';
import type { DeploymentOptions } from '../../options/deployment-options.ts';
import { type CheckResult, good, note, problem } from './check-result.ts';

/** Whether the zones of the network offer the instance types of the nodes. */
export async function checkZones(client: EC2Client, options: DeploymentOptions): Promise<CheckResult[]> {
  const { clusterInstanceTypes, gpuInstanceTypes } = options;
  const types = [...clusterInstanceTypes, ...gpuInstanceTypes];
  try {
    const all = await regionZones(client);
    const unknown = options.zones.filter((zone) => !all.includes(zone));
    if (unknown.length > 0)
      return [problem(`zone: this account has no ${unknown.join(', ')}; it has ${all.join(', ')}`)];
    const zones = await networkZones(client, options, all);
    const offered = await offeringsOf(client, types);
    const hint = advice(all, types, offered);
    const first = zones.slice(0, 1);
    const nodes: Nodes[] = [
      { what: 'clusters', option: 'clusterInstanceTypes', zones: first },
      ...(gpuInstanceTypes.length === 0
        ? []
        : ([
            { what: 'clusters with GPUs', option: 'gpuInstanceTypes', zones: first },
            { what: 'trainings with GPUs', option: 'gpuInstanceTypes', zones },
          ] as const)),
    ];
    return nodes.map((node) => checkNodes(node, options[node.option], offered, hint));
  } catch (error) {
    return [note(`zones could not be read: ${error instanceof Error ? error.name : ''}`)];
  }
}

/** Return the region's zones that the account may use, in CloudFormation's order. */
async function regionZones(client: EC2Client): Promise<string[]> {
  const { AvailabilityZones = [] } = await client.send(
    new DescribeAvailabilityZonesCommand({ Filters: [{ Name: 'zone-type', Values: ['availability-zone'] }] }),
  );
  return AvailabilityZones.flatMap(({ ZoneName, State }) =>
    ZoneName === undefined || State !== 'available' ? [] : [ZoneName],
  ).sort();
}

/** Number of zones of the network if none are named: the first ones of the region. */
const usualZones = 2;

/** Return the zones of the jobs' network. Clusters run in the first. */
async function networkZones(
  client: EC2Client,
  { zones, subnetIds }: DeploymentOptions,
  all: readonly string[],
): Promise<string[]> {
  if (subnetIds.length === 0) return zones.length > 0 ? [...zones] : all.slice(0, usualZones);
  const { Subnets = [] } = await client.send(new DescribeSubnetsCommand({ SubnetIds: [...subnetIds] }));
  const zoneOf = new Map(Subnets.map(({ SubnetId, AvailabilityZone }) => [SubnetId, AvailabilityZone]));
  return subnetIds.flatMap((id) => zoneOf.get(id) ?? []);
}

/** Return the requested types that each zone offers. */
async function offeringsOf(client: EC2Client, types: readonly string[]): Promise<Map<string, Set<string>>> {
  const offered = new Map<string, Set<string>>();
  const pages = paginateDescribeInstanceTypeOfferings(
    { client },
    { LocationType: 'availability-zone', Filters: [{ Name: 'instance-type', Values: [...types] }] },
  );
  for await (const { InstanceTypeOfferings = [] } of pages) {
    for (const { InstanceType, Location } of InstanceTypeOfferings) {
      if (InstanceType === undefined || Location === undefined) continue;
      offered.set(Location, (offered.get(Location) ?? new Set()).add(InstanceType));
    }
  }
  return offered;
}

/** Suggest zones that offer all of these types, as an option. */
function advice(
  all: readonly string[],
  types: readonly string[],
  offered: ReadonlyMap<string, ReadonlySet<string>>,
): string {
  const fit = all.filter((zone) => types.every((type) => offered.get(zone)?.has(type)));
  return fit.length === 0
    ? 'No zone of this region offers all types; choose other types'
    : `All types are offered in ${fit.join(', ')}: -c zones=${fit.slice(0, usualZones).join(',')}`;
}

/** A kind of nodes and its zones. */
interface Nodes {
  what: string;
  option: 'clusterInstanceTypes' | 'gpuInstanceTypes';
  zones: readonly string[];
}

function checkNodes(
  { what, option, zones }: Nodes,
  types: readonly string[],
  offered: ReadonlyMap<string, ReadonlySet<string>>,
  hint: string,
): CheckResult {
  const isOffered = (type: string) => zones.some((zone) => offered.get(zone)?.has(type) === true);
  const missing = types.filter((type) => !isOffered(type));
  const where = zones.join(' or ');
  if (missing.length === 0) return good(`zone: ${where} offers all ${option} for ${what}`);
  const told = `zone: ${where} does not offer ${missing.join(', ')} for ${what}`;
  return missing.length === types.length
    ? problem(`${told}, and thus none of ${option}, so none could start. ${hint}`)
    : note(`${told}. ${hint}`);
}
