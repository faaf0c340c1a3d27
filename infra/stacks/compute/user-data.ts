/**
 * What a node runs when it starts. A container that reached the instance metadata service would hold the credentials
 * of the node: the ECS agent blocks it for containers with a network interface of their own (those of multi-node jobs),
 * the rule for those behind the bridge, and no container is privileged.
 */
const boundary = '==MODEL-PROJECT-SERVICE==';

export const nodeUserData = `MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="${boundary}"

--${boundary}
Content-Type: text/cloud-boothook; charset="us-ascii"

#!/bin/bash
cat >> /etc/ecs/ecs.config <<'CONFIG'
ECS_AWSVPC_BLOCK_IMDS=true
ECS_DISABLE_PRIVILEGED=true
CONFIG

--${boundary}
Content-Type: text/x-shellscript; charset="us-ascii"

#!/bin/bash
set -eu
iptables --table raw --append PREROUTING --in-interface docker+ --destination 169.254.169.254/32 --jump DROP

--${boundary}--
`;
