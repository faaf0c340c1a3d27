import { spawn } from 'node:child_process';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { thisHost } from '../../../shared/host/this-host.ts';
import { MemoryWatch } from '../../../shared/process/memory-watch.ts';
import { killTree } from '../../../shared/process/process-tree.ts';
import { Workbench } from '../runner/workbench.ts';

const bench = new Workbench();
const mebibyte = 2 ** 20;
/** Takes memory and holds it, in this process or in four that it starts. */
const taking = (mebibytes: number) =>
  `const held = []; for (let i = 0; i < ${mebibytes}; i += 10) held.push(Buffer.alloc(10 * 2 ** 20, 1)); setTimeout(() => {}, 60_000)`;

test('a command that takes more memory than its limit is ended', async () => {
  const { outcome } = await bench.run([process.execPath, '-e', taking(600)], { memoryBytes: 200 * mebibyte });
  expect(outcome).toMatchObject({ cause: 'out-of-memory', by: 'limit' });
});

test('its processes count together', async () => {
  const script = `for n in 1 2 3 4; do '${process.execPath}' -e '${taking(100)}' & done; wait`;
  const { outcome } = await bench.sh(script, { memoryBytes: 300 * mebibyte });
  expect(outcome).toMatchObject({ cause: 'out-of-memory' });
});

test('one that stays within it is not', async () => {
  const { outcome } = await bench.run([process.execPath, '-e', 'Buffer.alloc(5e7, 1)'], {
    memoryBytes: 400 * mebibyte,
  });
  expect(outcome).toMatchObject({ cause: 'exited', exitCode: 0 });
});

test.runIf(process.platform === 'linux')('pages that forked processes share count once', async () => {
  const fork = [
    'import os, time',
    'held = bytearray(120 << 20)',
    'for page in range(0, len(held), 4096): held[page] = 1',
    'children = [os.fork() for _ in range(1)]',
    'if children[0] == 0:',
    '    for page in range(0, len(held), 4096): assert held[page] == 1',
    'time.sleep(600)',
  ].join('\n');
  const child = spawn('python3', ['-c', fork], { detached: true, stdio: 'ignore' });
  const tree = { group: child.pid ?? 0 };
  onTestFinished(async () => void (await killTree(tree)));
  const watch = new MemoryWatch(() => tree, 200 * mebibyte);
  onTestFinished(() => watch.stop());
  let isExceeded = false;
  void watch.exceeded.then(() => {
    isExceeded = true;
  });
  await expect.poll(() => watch.peakRssBytes).toBeGreaterThan(200 * mebibyte);
  expect(isExceeded).toBe(false);
});

test.runIf(process.platform === 'linux')('the kernel ends it before any other', async () => {
  const { stdout } = await bench.sh(
    'until grep -qx 1000 /proc/self/oom_score_adj; do sleep 0.05; done; sh -c "cat /proc/self/oom_score_adj"',
  );
  expect(stdout).toBe('1000\n');
});

describe('a command that was killed', () => {
  /** Let the kernel count a process that it ended for want of memory, `when` the command has said so. */
  function countingAt(when: () => boolean) {
    const count = vi.spyOn(thisHost, 'kernelOomKills').mockImplementation(() => (when() ? 1 : 0));
    onTestFinished(() => count.mockRestore());
  }

  test('while the kernel ended processes for want of memory is told so', async () => {
    let isShort = false;
    countingAt(() => isShort);
    const { outcome } = await bench.sh('echo short; sleep 0.1; kill -KILL $$', {
      onOutput: () => {
        isShort = true;
      },
    });
    expect(outcome).toMatchObject({ cause: 'out-of-memory', by: 'kernel', signal: 'SIGKILL' });
  });

  test('long after the kernel ended another process was killed by somebody', async () => {
    let listings = 0;
    countingAt(() => listings >= 1);
    const { outcome } = await bench.sh('until [ -e go ]; do sleep 0.05; done; kill -KILL $$', {
      onListing: () => {
        listings += 1;
        if (listings === 4) void bench.script('go', '');
      },
    });
    expect(outcome).toMatchObject({ cause: 'signalled', signal: 'SIGKILL' });
  });
});
