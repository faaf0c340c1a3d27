import { Fn, Stack } from 'aws-cdk-lib';
import { CfnLaunchTemplate } from 'aws-cdk-lib/aws-ec2';
import { CfnInstanceProfile, ManagedPolicy, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import type { DeploymentOptions } from '../../options/deployment-options.ts';
import { nodeUserData } from './user-data.ts';

/** The instance profile and the launch template of all EC2 nodes. */
export class NodeParts extends Construct {
  readonly profile: CfnInstanceProfile;
  readonly template: CfnLaunchTemplate;

  constructor(scope: Construct, id: string, { jobDiskGiB, tags }: DeploymentOptions) {
    super(scope, id);
    const role = new Role(this, 'NodeRole', {
      assumedBy: new ServicePrincipal('ec2.amazonaws.com'),
      managedPolicies: [
        ManagedPolicy.fromAwsManagedPolicyName('service-role/AmazonEC2ContainerServiceforEC2Role'),
      ],
    });
    this.profile = new CfnInstanceProfile(this, 'NodeProfile', { roles: [role.roleName] });
    const named = { Name: `${Stack.of(this).stackName}-node`, ...tags };
    const nodeTags = Object.entries(named).map(([key, value]) => ({ key, value }));
    this.template = new CfnLaunchTemplate(this, 'NodeTemplate', {
      launchTemplateData: {
        userData: Fn.base64(nodeUserData),
        metadataOptions: { httpTokens: 'required', httpPutResponseHopLimit: 1, httpProtocolIpv6: 'disabled' },
        blockDeviceMappings: [
          {
            deviceName: '/dev/xvda',
            ebs: { volumeSize: jobDiskGiB, volumeType: 'gp3', encrypted: true, deleteOnTermination: true },
          },
        ],
        // Instances that EC2 starts for Batch do not inherit the stack's tags.
        tagSpecifications: ['instance', 'volume'].map((resourceType) => ({ resourceType, tags: nodeTags })),
      },
    });
  }
}
