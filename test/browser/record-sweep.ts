import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { endpoint as createToken } from '../../functions/auth/create-token.endpoint.ts';
import type { endpoint as listProjects } from '../../functions/projects/projects/list-projects.endpoint.ts';
import type { endpoint as listSweeps } from '../../functions/projects/sweeps/list-sweeps.endpoint.ts';
import { Client } from '../../shared/client/client.ts';
import { startMps } from '../support/mps.ts';
import { admin } from './console-service.ts';

/**
 * Reports `(log10(lr) + 2)² + depth / 100 + seed / 1000`. Depth 7 fails, and a name that begins with `slow` waits for a
 * minute.
 */
const program = `
import json, math, os, time
config = dict(line.strip().split(': ') for line in open(os.environ['CONFIG_PATH']) if ': ' in line)
lr, depth = float(config['lr']), int(config['depth'])
if depth == 7: raise ValueError('no depth 7')
loss = (math.log10(lr) + 2) ** 2 + depth / 100 + int(os.environ.get('SEED', 0)) / 1000
with open(os.environ['METRICS_FILE'], 'a') as metrics:
    metrics.write(json.dumps({'val_loss': loss, 'step': 1}) + '\\n')
time.sleep(float(config['wait']))
`;

export const sweptConfig = 'lr: 0.1\ndepth: 1\noptimizer: sgd\nwait: 0\n';

/** Sweep a folder by `mps sweep`, and return what came of it. */
export async function recordSweep(
  url: string,
  client: Client,
  { name, args, detach = false }: { name: string; args: readonly string[]; detach?: boolean },
): Promise<{ project_id: string; sweep_id: string }> {
  const home = await mkdtemp(join(tmpdir(), 'sweep-home-'));
  const folder = join(home, name);
  try {
    await mkdir(folder);
    await writeFile(join(folder, 'train.py'), program);
    await writeFile(join(folder, 'train.yaml'), sweptConfig);
    const { access_token } = await new Client({ url }).call<typeof createToken>('POST /auth/token', {
      body: { grant_type: 'password', ...admin },
    });
    const words = ['sweep', ...args, ...(detach ? ['-d'] : []), '--', 'python3', 'train.py'];
    const { stderr } = await startMps(words, {
      folder,
      home,
      environment: { MPS_URL: url, MPS_TOKEN: access_token },
    }).ended;
    const projects = await client.call<typeof listProjects>('GET /projects/');
    const project = (projects as { project_name: string; project_id: string }[]).find(
      ({ project_name }) => project_name === name,
    );
    if (project === undefined) throw new Error(`mps sweep: ${stderr}`);
    const { project_id } = project;
    const [sweep] = await client.call<typeof listSweeps>('GET /projects/{project_id}/sweeps', {
      path: { project_id },
      query: { limit: 1 },
    });
    if (sweep === undefined) throw new Error(`mps sweep: ${stderr}`);
    return { project_id, sweep_id: sweep.sweep_id };
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}
