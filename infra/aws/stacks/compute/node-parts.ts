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

/** Ports of the ECS agent for introspection, credentials and metadata of tasks. */
const agentPorts = '51678:51680';

/**
 * User programs must not reach the instance metadata service, because it has the credentials of the node. The
 * protection depends on the container's network mode. Batch uses two modes:
 *
 * - Containers of multi-node jobs have their own network interface (`awsvpc`). The ECS agent blocks the service.
 * - Containers of other jobs share the network of the node (`host`). The node allows access only to root. The
 *   supervisor runs as root, a user's program never does. The same rule protects the ports of the ECS agent, which
 *   serves the credentials of jobs and lists the tasks on the node.
 *
 * The rule for bridge networks costs nothing, and protects the node if Batch ever uses one. No container is
 * privileged.
 *
 * A boothook runs at every start, before the ECS agent. If the rules fail, the node accepts no jobs and powers
 * off.
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
