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
import type { DeploymentOptions } from '../../options/deployment-options.ts';

/**
 * The network of the jobs: public subnets, because a NAT gateway costs money while idle, and free endpoints of S3 and
 * DynamoDB. Nothing in it takes connections from outside.
 */
export class Network extends Construct {
  /** Subnets of the jobs. A cluster lies in the first. */
  readonly subnetIds: readonly string[];
  /** Of jobs on one container: out only. */
  readonly jobs: SecurityGroup;
  /** Of cluster nodes: out, and among themselves. */
  readonly cluster: SecurityGroup;

  constructor(scope: Construct, id: string, { vpcId, subnetIds, zones }: DeploymentOptions) {
    super(scope, id);
    const vpc = vpcId === undefined ? this.#ownVpc(zones) : this.#existingVpc(vpcId);
    this.subnetIds = vpcId === undefined ? vpc.publicSubnets.map(({ subnetId }) => subnetId) : subnetIds;
    this.jobs = new SecurityGroup(this, 'Jobs', { vpc, description: 'Jobs: out only' });
    this.cluster = new SecurityGroup(this, 'Cluster', {
      vpc,
      description: 'Cluster nodes: out, and among themselves',
    });
    // Frameworks for distributed training choose ports as they like.
    this.cluster.addIngressRule(this.cluster, Port.allTraffic(), 'Nodes of one cluster');
  }

  /** A VPC by its id alone, so that templates need no look-up. Nothing here asks for its zones. */
  #existingVpc(vpcId: string): IVpc {
    const availabilityZones = Stack.of(this).availabilityZones.slice(0, 1);
    return Vpc.fromVpcAttributes(this, 'Vpc', { vpcId, availabilityZones });
  }

  #ownVpc(zones: readonly string[]): IVpc {
    return new Vpc(this, 'Vpc', {
      ipAddresses: IpAddresses.cidr('10.40.0.0/16'),
      ...(zones.length > 0 ? { availabilityZones: [...zones] } : { maxAzs: 2 }),
      natGateways: 0,
      // It would bring a function of its own, to change what nothing uses.
      restrictDefaultSecurityGroup: false,
      subnetConfiguration: [{ name: 'public', subnetType: SubnetType.PUBLIC, cidrMask: 20 }],
      gatewayEndpoints: {
        S3: { service: GatewayVpcEndpointAwsService.S3 },
        DynamoDb: { service: GatewayVpcEndpointAwsService.DYNAMODB },
      },
    });
  }
}
