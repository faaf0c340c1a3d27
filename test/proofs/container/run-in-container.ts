import { spawn, spawnSync } from 'node:child_process';
import { jobImage } from './job-image.ts';
import { jobLabel, jobNetwork } from './job-network.ts';

// What the local Batch starts in the place of a container: this process has the job's environment, and becomes the
// client of a container of the job image that has it too. Signals go to the container, its exit code comes back.

/** The image sets these itself, or the role gives them. */
const withheld =
  /^(PATH|HOME|WORK_DIR|ENVIRONMENTS_DIR|DOCKER_HOST|AWS_ACCESS_KEY_ID|AWS_SECRET_ACCESS_KEY)$/;

/** Of the main node, which the others must reach. */
const mainAddress = '169.254.170.100';

const environment = process.env;
const isCluster = Number(environment['AWS_BATCH_JOB_NUM_NODES'] ?? 1) > 1;
const isMain = environment['AWS_BATCH_JOB_NODE_INDEX'] === '0';
if (environment['AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS'] !== undefined) {
  environment['AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS'] = mainAddress;
}
// What else ECS tells a container, which is for its supervisor alone.
const told = 'http://169.254.170.2/v4/6f1c2d3e4b5a69788796a5b4c3d2e1f0-1234567890';
Object.assign(environment, { ECS_CONTAINER_METADATA_URI_V4: told, ECS_CONTAINER_METADATA_URI: told });
const names = Object.keys(environment).filter((name) => !withheld.test(name));

function docker(args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync('docker', args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`docker ${args[0]}: ${stderr}`);
  return stdout.trim();
}

const id = docker([
  ...['create', '--label', jobLabel, '--network', jobNetwork],
  ...(isCluster && isMain ? ['--ip', mainAddress] : []),
  // The capabilities that Fargate gives, which are Docker's own defaults.
  ...names.flatMap((name) => ['--env', name]),
  ...[jobImage, ...process.argv.slice(2)],
]);
// Only a cluster's nodes are without a way out.
if (!isCluster) docker(['network', 'connect', 'bridge', id]);
const client = spawn('docker', ['start', '--attach', id], { stdio: ['ignore', 'inherit', 'inherit'] });
// The client has handlers of its own; what reaches this process alone must reach the container too.
process.on('SIGTERM', () => spawnSync('docker', ['kill', '--signal', 'TERM', id]));
client.once('exit', (code) => {
  spawnSync('docker', ['rm', '--force', '--volumes', id]);
  process.exit(code ?? 1);
});
