import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { LocalService } from '../support/local-service.ts';
import { runMps } from '../support/mps.ts';
import { everySample } from '../support/samples.ts';
import { signedInService } from './signed-in-service.ts';

const scratch = await mkdtemp(join(tmpdir(), 'mps-notebook-'));
/**
 * Whether pip gets what executes notebooks. Without a package index there is nothing to try, and `npm test` asks none:
 * installing the packages takes longer than any other test.
 */
async function canGetPapermill(): Promise<boolean> {
  if (!everySample) return false;
  const run = promisify(execFile);
  const python = join(scratch, 'venv/bin/python');
  const options = ['--quiet', '--no-deps', '--retries', '0', '-d', join(scratch, 'wheel')];
  try {
    await run('python3', ['-m', 'venv', join(scratch, 'venv')]);
    await run(python, ['-m', 'pip', 'download', ...options, 'papermill']);
    return true;
  } catch {
    return false;
  }
}

const hasPapermill = await canGetPapermill();
// A file whose tests are all skipped runs no hook.
if (!hasPapermill) await rm(scratch, { recursive: true, force: true });

let service: LocalService | undefined;

beforeAll(async () => {
  if (!hasPapermill) return;
  service = await signedInService(join(scratch, 'data'), scratch);
});

afterAll(async () => {
  await service?.end('SIGTERM');
  await rm(scratch, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
});

const notebook = (...cells: readonly string[]) =>
  JSON.stringify({
    cells: cells.map((source, index) => ({
      ...{ cell_type: 'code', id: `cell${index}`, source, outputs: [], execution_count: null },
      metadata: index === 0 ? { tags: ['parameters'] } : {},
    })),
    metadata: { kernelspec: { name: 'of-its-author', language: 'python', display_name: 'mine' } },
    ...{ nbformat: 4, nbformat_minor: 5 },
  });

describe.runIf(hasPapermill)('a notebook', () => {
  test('is executed with its parameters and kept, whatever it shows, is called, or fails with', async () => {
    const folder = join(scratch, 'notebooks');
    await mkdir(folder);
    await writeFile(
      join(folder, 'train.ipynb'),
      notebook(
        'lr = 0.1',
        'for step in range(3):\n    print(f"step {step}: loss {lr / (step + 1):.4f}")',
        'from IPython.display import HTML\nHTML("<script>alert(1)</script>")',
      ),
    );
    const hostile = 'a "b" $(touch c) <img src=x onerror=alert(1)>.ipynb';
    await writeFile(
      join(folder, hostile),
      notebook('lr = 0.1', 'print("step 0: loss 0.5")', 'raise ValueError("no data")'),
    );
    const mps = (...args: string[]) => runMps(args, { folder, home: scratch });
    const shown = async () => JSON.parse((await mps('show', 'latest', '--json')).stdout);

    const ran = await mps('run', '--', 'train.ipynb', '-p', 'lr', '0.3');
    const succeeded = await shown();
    await mps('pull', '--to', 'good');
    const failed = await mps('run', '--', hostile);
    const ended = await shown();
    await mps('pull', '--to', 'bad');

    expect(ran, ran.stderr).toMatchObject({ code: 0 });
    // The kernel and papermill add nothing of their own.
    expect(ran.stdout).toBe('step 0: loss 0.3000\nstep 1: loss 0.1500\nstep 2: loss 0.1000\n');
    expect(ran.stderr).not.toMatch(/warning/i);
    expect(succeeded).toMatchObject({
      ...{ status: 'SUCCEEDED', params: { lr: '0.3' }, artifacts: 1 },
      metrics: { loss: { last: 0.1, step: 2, count: 3 } },
    });
    expect(await readFile(join(folder, 'good/workdir/train.ipynb'), 'utf8')).toContain('alert(1)');
    expect(failed.code, failed.stderr).toBe(1);
    expect(ended).toMatchObject({
      ...{ status: 'FAILED', artifacts: 1, metrics: { loss: { last: 0.5 } } },
      status_reason: expect.stringMatching(/^ValueError: no data/),
    });
    const kept = await readFile(join(folder, 'bad/workdir', hostile), 'utf8');
    expect(kept).toContain('"ename": "ValueError"');
  });
});
