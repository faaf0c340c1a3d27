import { spawnSync } from 'node:child_process';
import { createServer } from 'node:net';
import { CommandError } from '../../command/command-error.ts';

/**
 * Where the engine runs on this machine itself, the address of its default bridge, which is the same from both sides,
 * so that presigned URLs work for containers and people alike. Where it runs in a virtual machine (Docker Desktop)
 * its name for the host is forwarded to the loopback address.
 * @throws CommandError where no engine responds
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

/** How containers reach programs of this machine. */
export interface ContainerBridge {
  /** Address that those programs must listen on. */
  listenOn: string;
  /** Name or address under which containers find them. */
  seenAs: string;
}

/** Address of the host in a network: the gateway, which is the first one where the engine does not name it. */
export function gatewayOf(gateway: string, subnet: string): string {
  return gateway === '' ? subnet.replace(/\.\d+\/\d+$/, '.1') : gateway;
}

/** Whether it is an address of this machine. An interface without a container is down, and listed nowhere. */
function isOwn(address: string): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(0, address, () => server.close(() => resolve(true)));
  });
}
