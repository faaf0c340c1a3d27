import { readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { canSandbox } from '../../../shared/host/linux/sandbox.ts';
import { findProcesses } from '../../../shared/process/process-tree.ts';
import { optimizationService } from '../../support/optimization.ts';

const programs = {
  prune: 'test/integration/optimization/copying.job.ts',
  quantize: 'test/integration/optimization/spying.job.ts',
};

const isRoot = process.platform === 'linux' && process.getuid?.() === 0;

test('stages run as a user of the job’s own, who has no credentials and reaches no other job', async ({
  skip,
}) => {
  skip(!isRoot, 'Only root, as the supervisor is in the image, can give its stages another user.');
  const service = await optimizationService({}, {}, programs);
  const { json: waiting } = await service.prune({ exclude: 'wait' });
  const started = async () =>
    (await service.compressionLog('prune', waiting.strategy_id)).includes('waiting');
  await expect.poll(started).toBe(true);
  const { job_id } = await service.read('prune', waiting.strategy_id);
  const processes = await findProcesses({ marker: { name: 'AWS_BATCH_JOB_ID', value: job_id } });
  const folders = await Promise.all(processes.map(({ pid }) => readlink(`/proc/${pid}/cwd`)));
  const work = folders.find((folder) => folder.endsWith('/work')) ?? '';
  const other = join(work, '..');
  // It is there, for who may look.
  expect((await readFile(join(other, 'model/model.onnx'))).length).toBeGreaterThan(0);

  const { json } = await service.quantize({ exclude: other });
  const ended = await service.untilCompression('quantize', json.strategy_id);
  const log = await service.compressionLog('quantize', json.strategy_id);
  expect(ended, log).toMatchObject({ status: 'FAILED', status_reason: 'The spy has seen enough.' });
  const seen = JSON.parse(/seen (\{.*\})/.exec(log)?.[1] ?? 'null');
  expect(seen.uid).toBeGreaterThan(60_000);
  expect(seen).toEqual({
    uid: seen.uid,
    gid: seen.uid,
    groups: [seen.uid],
    // By the first everything of a job is found; it is no secret.
    environment: ['AWS_BATCH_JOB_ID', 'GLIBC_TUNABLES', 'HOME', 'LANG', 'TMPDIR'],
    capabilities: [0, 0, 0, 0],
    no_new_privileges: '1',
    own: { read: 'done', write: 'EACCES', beside: 'EACCES', scratch: 'done' },
    root: 'EPERM',
    supervisor: canSandbox() ? 'ENOENT' : 'EACCES',
    // In a sandbox it is there, with nothing but its own run in it.
    jobs: canSandbox() ? 'done' : 'EACCES',
    other: Object.fromEntries(
      ['list', 'enter', 'model', 'models', 'sets', 'work', 'write'].map((name) => [
        name,
        canSandbox() ? 'ENOENT' : 'EACCES',
      ]),
    ),
  });
});
