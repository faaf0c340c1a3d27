import { describe, expect, test } from 'vitest';
import { endpoint as trainRemote } from '../../../functions/projects/training/train-project-remote.endpoint.ts';
import { trainingService } from '../../support/training.ts';

/** Node 0 waits for a number from each other node at the meeting point; the others send theirs. */
const meeting = `
import os, socket, time
rank, nodes = int(os.environ['NODE_RANK']), int(os.environ['NUM_NODES'])
place = (os.environ['MASTER_ADDR'], int(os.environ['MASTER_PORT']))
print('rank', rank, 'of', nodes, flush=True)
if rank == 0:
    server = socket.create_server(place)
    total = 0
    for _ in range(nodes - 1):
        connection, _ = server.accept()
        total += int(connection.recv(16))
        connection.close()
    print('total', total, flush=True)
    open(os.path.join(os.environ['OUTPUT_DIR'], 'total.txt'), 'w').write(str(total))
else:
    while True:
        try:
            connection = socket.create_connection(place)
            break
        except OSError:
            time.sleep(0.05)
    connection.sendall(str(rank * 10).encode())
    connection.close()
    time.sleep(60)
`;

/**
 * What `torch.distributed` does with `init_method="env://"` (TCPStore): rank 0 serves a store at MASTER_ADDR and
 * MASTER_PORT, every rank joins by its own RANK, and nobody goes on before WORLD_SIZE ranks are there.
 */
const rendezvous = `
import os, socket, sys, time
rank, world = int(os.environ['RANK']), int(os.environ['WORLD_SIZE'])
local = (os.environ['LOCAL_RANK'], os.environ['LOCAL_WORLD_SIZE'])
place = (os.environ['MASTER_ADDR'], int(os.environ['MASTER_PORT']))
assert sys.argv[1:] == [str(rank), str(world), place[0], str(place[1])], sys.argv
if rank == 0:
    server = socket.create_server(('', place[1]))
    joined = {0: None}
    while len(joined) < world:
        connection, _ = server.accept()
        joined[int(connection.recv(16))] = connection
    for connection in joined.values():
        if connection:
            connection.sendall(b'all here')
            # The end of this node is the end of the job: the others have printed their lines by then.
            connection.recv(16)
            connection.close()
    print('met', sorted(joined), local, flush=True)
else:
    while True:
        try:
            connection = socket.create_connection(place)
            break
        except OSError:
            time.sleep(0.05)
    connection.sendall(str(rank).encode())
    print('rank', rank, connection.recv(16).decode(), local, flush=True)
    connection.sendall(b'printed')
`;

import { everySample } from '../../support/samples.ts';

describe('training on a cluster', () => {
  test('runs every node; node 0 decides, and every log is kept', async () => {
    const service = await trainingService();
    const { developer: as } = service;
    const project_id = await service.project({ command: 'python3 meet.py', files: { 'meet.py': meeting } });
    const begun = await service.call(trainRemote, { path: { project_id }, query: { nodes: '3' }, as });
    expect(begun.json, begun.text).toMatchObject({ kind: 'train-remote', nodes: 3, config_id: 'train.yaml' });
    const { experiment_id } = begun.json;
    const ended = await service.ended(project_id, experiment_id);
    const log = await service.log(project_id, experiment_id);
    expect(ended, log).toMatchObject({ status: 'SUCCEEDED', attempt: 1, artifacts: 1 });
    expect(log).toContain('total 30');
    // The others are stopped when node 0 has ended, and ship the rest of their logs then.
    for (const node of [1, 2]) {
      await expect.poll(() => service.log(project_id, experiment_id, node)).toContain(`rank ${node} of 3`);
    }
  });

  test.runIf(everySample)('two nodes meet by the variables of torch.distributed alone', async () => {
    const service = await trainingService();
    const { developer: as } = service;
    const project_id = await service.project({
      command: 'python3 meet.py {node_rank} {num_nodes} {master_addr} {master_port}',
      files: { 'meet.py': rendezvous },
    });
    const begun = await service.call(trainRemote, { path: { project_id }, query: { nodes: '2' }, as });
    const { experiment_id } = begun.json;
    const ended = await service.ended(project_id, experiment_id);
    const log = await service.log(project_id, experiment_id);
    expect(ended, log).toMatchObject({ status: 'SUCCEEDED' });
    expect(log).toContain("met [0, 1] ('0', '1')");
    await expect
      .poll(() => service.log(project_id, experiment_id, 1))
      .toContain("rank 1 all here ('0', '1')");
  });

  test('builds its environment first, once, and fails with the build', async () => {
    const service = await trainingService({}, { PIP_NO_INDEX: '1' });
    const { developer: as } = service;
    const project_id = await service.project({
      command: 'python3 -c pass',
      env_type: 'python',
      dependencies: 'no-such-package',
    });
    const begun = await service.call(trainRemote, { path: { project_id }, as });
    const ended = await service.ended(project_id, begun.json.experiment_id);
    expect(ended).toMatchObject({
      status: 'FAILED',
      status_reason: expect.stringContaining('no-such-package'),
      attempt: 0,
    });
    expect(await service.log(project_id, begun.json.experiment_id)).toContain('Building the environment');
  });
});
