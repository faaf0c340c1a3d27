import { spawnSync } from 'node:child_process';
import { createServer } from 'node:net';
import { CommandError } from '../../command/command-error.ts';

/**
 * Find the network between containers and this machine. If the engine runs on this machine itself, use the address
 * of its default bridge. It is the same from both sides, so presigned URLs work for containers and people. If the
 * engine runs in a virtual machine (Docker Desktop), its name for the host leads to the loopback address.
 * @throws CommandError if no engine responds
 */
export async function containerBridge(): Promise<ContainerBridge> {
  const format = '{{range .IPAM.Config}}{{.Gateway}},{{.Subnet}} {{end}}';
  const { status, stdout } = spawnSync('docker', ['network', 'inspect', 'bridge', '--format', format], {
    encoding: 'utf8',
  });
  if (status !== 0) {
    throw new CommandError(
      '`sam local` needs a container engine: install Docker and start it (`docker info`).',
    );
  }
  const [first = ''] = stdout.split(' ');
  const [gateway = '', subnet = ''] = first.split(',');
  const address = gatewayOf(gateway, subnet);
  if (address !== '' && (await isOwn(address))) return { listenOn: address, seenAs: address };
  return { listenOn: '127.0.0.1', seenAs: 'host.docker.internal' };
}

/** Addresses for connections from containers to programs of this machine. */
export interface ContainerBridge {
  /** Listen address of those programs. */
  listenOn: string;
  /** Name or address of this machine for containers. */
  seenAs: string;
}

/**
 * Return the address of the host in a network: its gateway, or its first address if the engine does not name the
 * gateway.
 */
export function gatewayOf(gateway: string, subnet: string): string {
  return gateway === '' ? subnet.replace(/\.\d+\/\d+$/, '.1') : gateway;
}

/**
 * Whether this machine has the address. Test it, because an interface without a container is down and not listed.
 */
function isOwn(address: string): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(0, address, () => server.close(() => resolve(true)));
  });
}
