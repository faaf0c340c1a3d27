import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { findProcesses } from '../../../shared/process/process-tree.ts';
import { supervise } from '../../../shared/process/supervise.ts';
import { Workbench } from '../runner/workbench.ts';

const bench = new Workbench();

describe('output', () => {
  test('a million lines written as fast as can be arrive complete and in order', async () => {
    let bytes = 0;
    const hash = createHash('sha256');
    const outcome = await supervise({
      argv: ['seq', '1', '1000000'],
      cwd: bench.cwd,
      env: { PATH: '/usr/bin:/bin' },
      marker: bench.marker,
      stop: new AbortController().signal,
      onOutput: (_stream, chunk) => {
        bytes += chunk.length;
        hash.update(chunk);
      },
    });
    expect(outcome).toMatchObject({ cause: 'exited', exitCode: 0 });
    const expected = Array.from({ length: 1_000_000 }, (_, index) => `${index + 1}\n`).join('');
    expect(bytes).toBe(expected.length);
    expect(hash.digest('hex')).toBe(createHash('sha256').update(expected).digest('hex'));
  });

  test('a slow consumer makes the command wait', async () => {
    let calls = 0;
    let atOnce = 0;
    const written = join(bench.cwd, 'written');
    const { outcome, stdout } = await bench.sh(
      `i=0; echo $i > ${written}; while [ $i -lt 40 ]; do head -c 65536 /dev/zero; i=$((i+1)); echo $i > ${written}; done`,
      {
        onOutput: async () => {
          calls += 1;
          atOnce += 1;
          expect(atOnce).toBe(1);
          if (calls === 1) {
            await sleep(500);
            // What the pipe and one buffer hold has been written, and no more.
            expect(Number(await readFile(written, 'utf8'))).toBeLessThan(20);
          }
          atOnce -= 1;
        },
      },
    );
    expect(outcome).toMatchObject({ cause: 'exited', exitCode: 0 });
    expect(stdout.length).toBe(40 * 65_536);
  });

  test('what was written before the end is delivered however slow the consumer is', async () => {
    const { stdout } = await bench.sh('head -c 150000 /dev/zero; sleep 0.1; echo end', {
      onOutput: () => sleep(1_100),
    });
    expect(stdout.length).toBe(150_004);
    expect(stdout.endsWith('end\n')).toBe(true);
  });

  test('a consumer that fails ends the command and its error comes out', async () => {
    const failing = bench.sh('trap "exit 0" TERM; echo a; while :; do echo b; done', {
      onOutput: () => Promise.reject(new Error('storage is full')),
    });
    await expect(failing).rejects.toThrow('storage is full');
    expect(await findProcesses({ marker: bench.marker })).toEqual([]);
  });
});
