import {
  GatewayVpcEndpointAwsService,
  IpAddresses,
  Port,
  SecurityGroup,
  SubnetType,
  Vpc,
} from 'aws-cdk-lib/aws-ec2';
import { Construct } from 'constructs';

/**
 * The network of the jobs: public subnets, because a NAT gateway costs money while nobody uses it, and ways to S3 and
 * DynamoDB that cost nothing. Nothing in it takes connections from outside.
 */
export class Network extends Construct {
  readonly vpc: Vpc;
  /** Of jobs on one container: out only. */
  readonly jobs: SecurityGroup;
  /** Of cluster nodes: out, and among themselves. */
  readonly cluster: SecurityGroup;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    this.vpc = new Vpc(this, 'Vpc', {
      ipAddresses: IpAddresses.cidr('10.40.0.0/16'),
      maxAzs: 2,
      natGateways: 0,
      // It would bring a function of its own, to change what nothing uses.
      restrictDefaultSecurityGroup: false,
      subnetConfiguration: [{ name: 'public', subnetType: SubnetType.PUBLIC, cidrMask: 20 }],
      gatewayEndpoints: {
        S3: { service: GatewayVpcEndpointAwsService.S3 },
        DynamoDb: { service: GatewayVpcEndpointAwsService.DYNAMODB },
      },
    });
    this.jobs = new SecurityGroup(this, 'Jobs', { vpc: this.vpc, description: 'Jobs: out only' });
    this.cluster = new SecurityGroup(this, 'Cluster', {
      vpc: this.vpc,
      description: 'Cluster nodes: out, and among themselves',
    });
    // Frameworks for distributed training choose ports as they like.
    this.cluster.addIngressRule(this.cluster, Port.allTraffic(), 'Nodes of one cluster');
  }
}
