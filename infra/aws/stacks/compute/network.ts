import { Stack } from 'aws-cdk-lib';
import {
  GatewayVpcEndpointAwsService,
  IpAddresses,
  type IVpc,
  Port,
  SecurityGroup,
  SubnetType,
  Vpc,
} from 'aws-cdk-lib/aws-ec2';
import { Construct } from 'constructs';
import { subnetContext } from '../../options/api-context.ts';
import type { DeploymentOptions } from '../../options/deployment-options.ts';
import { newSubnetMask } from '../../options/subnet-mask.ts';

/**
 * The network of the jobs: public subnets, because a NAT gateway costs money while idle, and free gateway
 * endpoints for S3 and DynamoDB. It accepts no connections from outside.
 */
export class Network extends Construct {
  /** Subnets of the jobs. Clusters use the first. */
  readonly subnetIds: readonly string[];
  /** Security group of jobs on one container: outgoing only. */
  readonly jobs: SecurityGroup;
  /** Security group of cluster nodes: outgoing, and among themselves. */
  readonly cluster: SecurityGroup;

  constructor(scope: Construct, id: string, { vpcId, subnetIds, zones }: DeploymentOptions) {
    super(scope, id);
    const vpc = vpcId === undefined ? this.#ownVpc(zones) : this.#existingVpc(vpcId);
    this.subnetIds = vpcId === undefined ? vpc.publicSubnets.map(({ subnetId }) => subnetId) : subnetIds;
    this.jobs = new SecurityGroup(this, 'Jobs', { vpc, description: 'Jobs: out only' });
    this.cluster = new SecurityGroup(this, 'Cluster', {
      vpc,
      description: 'Cluster nodes: outgoing, and among themselves',
    });
    // Frameworks for distributed training choose arbitrary ports.
    this.cluster.addIngressRule(this.cluster, Port.allTraffic(), 'Nodes of one cluster');
  }

  /** Refer to a VPC only by its id, so that templates need no lookup. Nothing here uses its zones. */
  #existingVpc(vpcId: string): IVpc {
    const availabilityZones = Stack.of(this).availabilityZones.slice(0, 1);
    return Vpc.fromVpcAttributes(this, 'Vpc', { vpcId, availabilityZones });
  }

  /** A deployed subnet keeps its size. */
  #mask(zones: readonly string[]): number {
    return Number(this.node.tryGetContext(subnetContext) ?? newSubnetMask(zones));
  }

  #ownVpc(zones: readonly string[]): IVpc {
    return new Vpc(this, 'Vpc', {
      ipAddresses: IpAddresses.cidr('10.40.0.0/16'),
      ...(zones.length > 0 ? { availabilityZones: [...zones] } : { maxAzs: 2 }),
      natGateways: 0,
      // This would add a function that changes an unused security group.
      restrictDefaultSecurityGroup: false,
      subnetConfiguration: [{ name: 'public', subnetType: SubnetType.PUBLIC, cidrMask: this.#mask(zones) }],
      gatewayEndpoints: {
        S3: { service: GatewayVpcEndpointAwsService.S3 },
        DynamoDb: { service: GatewayVpcEndpointAwsService.DYNAMODB },
      },
    });
  }
}
