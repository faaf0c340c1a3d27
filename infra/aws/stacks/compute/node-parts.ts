import { Fn, Stack } from 'aws-cdk-lib';
import { CfnLaunchTemplate } from 'aws-cdk-lib/aws-ec2';
import { CfnInstanceProfile, ManagedPolicy, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import type { DeploymentOptions } from '../../options/deployment-options.ts';

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

const metadataService = '169.254.169.254/32';

/** Introspection, credentials and metadata of tasks. */
const agentPorts = '51678:51680';

/**
 * Programs of users must not reach the instance metadata service: it has the credentials of the node. How they are kept
 * from it depends on the network of their container, of which Batch has two:
 *
 * - Containers of multi-node jobs have a network interface of their own (`awsvpc`). The ECS agent blocks the service.
 * - Containers of other jobs share the network of the node (`host`). The node lets only root through, which the
 *   supervisor is and a user's program never is. The same goes for the ports of the ECS agent, which hands out the
 *   credentials of jobs and lists what runs on the node.
 *
 * The rule for bridges costs nothing and holds should Batch ever use one. No container is privileged.
 *
 * A boothook runs at every start, before the ECS agent. Without its rules a node takes no jobs and switches itself off.
 */
const boundary = '==MODEL-PROJECT-SERVICE==';

const nodeUserData = `MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="${boundary}"

--${boundary}
Content-Type: text/cloud-boothook; charset="us-ascii"

#!/bin/bash
cat >> /etc/ecs/ecs.config <<'CONFIG'
ECS_AWSVPC_BLOCK_IMDS=true
ECS_DISABLE_PRIVILEGED=true
CONFIG

protect() {
  iptables --wait --insert OUTPUT --destination ${metadataService} --match owner ! --uid-owner 0 --jump REJECT &&
  iptables --wait --insert OUTPUT --protocol tcp --destination-port ${agentPorts} --match owner ! --uid-owner 0 --jump REJECT &&
  iptables --wait --table raw --append PREROUTING --in-interface docker+ --destination ${metadataService} --jump DROP
}
protect || { systemctl mask ecs.service; systemctl --no-block poweroff; }

--${boundary}--
`;
