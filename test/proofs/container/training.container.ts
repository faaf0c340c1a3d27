import { describe, expect, test } from 'vitest';
import { endpoint as listArtifacts } from '../../../functions/experiments/artifacts/list-artifacts.endpoint.ts';
import { endpoint as cancelExperiment } from '../../../functions/experiments/records/cancel-experiment.endpoint.ts';
import { endpoint as train } from '../../../functions/projects/training/train-project.endpoint.ts';
import { endpoint as trainRemote } from '../../../functions/projects/training/train-project-remote.endpoint.ts';
import type { TrainingService } from '../../support/training.ts';
import { containerTraining } from './container-jobs.ts';

async function begin(service: TrainingService, project_id: string): Promise<string> {
  const query = { config: 'train.yaml' };
  const answer = await service.call(train, { path: { project_id }, query, as: service.developer });
  expect(answer.status, answer.text).toBe(200);
  return answer.json.experiment_id;
}

/** Whether this place can install a package that is not there yet. */
const reachesRegistry = `
import os, subprocess
def reaches_registry():
    env = {**os.environ, 'UV_HTTP_TIMEOUT': '3', 'UV_HTTP_RETRIES': '0', 'SSL_CERT_FILE': '/etc/ssl/certs/ca-certificates.crt'}
    done = subprocess.run(['uv', 'pip', 'install', '--target', env['TMPDIR'] + '/packages', 'idna'], env=env, capture_output=True)
    return done.returncode == 0
`;

const program = `
import getpass, json, os, sys
import six
from registry import reaches_registry
with open(os.environ['METRICS_FILE'], 'a') as metrics:
    for step in range(3):
        metrics.write(json.dumps({'name': 'accuracy', 'value': 0.5 + step / 10, 'step': step}) + '\\n')
with open(os.path.join(os.environ['OUTPUT_DIR'], 'model.bin'), 'wb') as model:
    model.write(b'weights')
print('user', getpass.getuser(), os.getuid(), 'six', six.__version__, 'python', sys.version.split()[0])
print('reaches the registry:', reaches_registry())
`;

describe('training in the job image', () => {
  test('installs its packages, runs, and sends home what it made', async () => {
    const service = await containerTraining();
    const project_id = await service.project({
      command: 'python3 train.py',
      files: { 'train.py': program, 'registry.py': reachesRegistry },
      env_type: 'python',
      dependencies: 'six==1.17.0',
    });
    const experiment_id = await begin(service, project_id);
    const ended = await service.ended(project_id, experiment_id);
    const log = await service.log(project_id, experiment_id);
    expect(ended, log).toMatchObject({ status: 'SUCCEEDED', environment_cache: 'miss', artifacts: 1 });
    expect(log).toContain('user job 62000 six 1.17.0 python 3.13');
    expect(log).toContain('reaches the registry: True');
    const listed = await service.call(listArtifacts, {
      path: { project_id, experiment_id },
      as: service.developer,
    });
    expect(listed.json, listed.text).toMatchObject([{ path: 'model.bin', size: 7 }]);

    const second = await begin(service, project_id);
    const again = await service.ended(project_id, second);
    expect(again, await service.log(project_id, second)).toMatchObject({
      status: 'SUCCEEDED',
      environment_cache: 'hit',
    });
  });

  test('gets SIGTERM through PID 1, saves, and ends as cancelled', async () => {
    const service = await containerTraining();
    const project_id = await service.project({
      command: 'python3 save.py',
      files: {
        'save.py': `
import os, signal, sys, time
def save(*_):
    open(os.path.join(os.environ['CHECKPOINT_DIR'], 'last.bin'), 'w').write('state')
    print('saved', flush=True)
    sys.exit(0)
signal.signal(signal.SIGTERM, save)
print('ready', flush=True)
while True: time.sleep(0.1)
`,
      },
    });
    const experiment_id = await begin(service, project_id);
    await expect.poll(() => service.log(project_id, experiment_id), { timeout: 60_000 }).toContain('ready');
    const path = { project_id, experiment_id };
    const cancelled = await service.call(cancelExperiment, { path, as: service.developer });
    expect(cancelled.status, cancelled.text).toBe(200);
    const ended = await service.ended(project_id, experiment_id);
    const log = await service.log(project_id, experiment_id);
    expect(ended, log).toMatchObject({ status: 'CANCELLED', exit_code: 0 });
    expect(log).toContain('saved');
  });
});

/** Every node says what it could reach; node 0 waits for a word of each other one. */
const meeting = `
import os, socket, time
import six
from registry import reaches_registry
rank, nodes = int(os.environ['NODE_RANK']), int(os.environ['NUM_NODES'])
place = (os.environ['MASTER_ADDR'], int(os.environ['MASTER_PORT']))
print('rank', rank, 'of', nodes, 'six', six.__version__, 'reaches the registry:', reaches_registry(), flush=True)
if rank == 0:
    server = socket.create_server(('', place[1]))
    total = 0
    for _ in range(nodes - 1):
        connection, _ = server.accept()
        total += int(connection.recv(16))
    print('total', total, flush=True)
else:
    while True:
        try:
            connection = socket.create_connection(place)
            break
        except OSError:
            time.sleep(0.05)
    connection.sendall(str(rank * 10).encode())
`;

describe('training on a cluster whose nodes have no way out', () => {
  test('takes the environment that was built before from S3 alone', async () => {
    const service = await containerTraining();
    const { developer: as } = service;
    const project_id = await service.project({
      command: 'python3 meet.py',
      files: { 'meet.py': meeting, 'registry.py': reachesRegistry },
      env_type: 'python',
      dependencies: 'six==1.17.0',
    });
    const begun = await service.call(trainRemote, { path: { project_id }, query: { nodes: '2' }, as });
    expect(begun.status, begun.text).toBe(200);
    const { experiment_id } = begun.json;
    const ended = await service.ended(project_id, experiment_id);
    const log = await service.log(project_id, experiment_id);
    expect(ended, log).toMatchObject({ status: 'SUCCEEDED', nodes: 2, environment_cache: 'hit' });
    expect(log).toContain('Building the environment');
    expect(log).toContain('rank 0 of 2 six 1.17.0 reaches the registry: False');
    expect(log).toContain('total 10');
    await expect
      .poll(() => service.log(project_id, experiment_id, 1), { timeout: 30_000 })
      .toContain('rank 1 of 2 six 1.17.0 reaches the registry: False');
  });
});
