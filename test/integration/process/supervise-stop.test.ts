import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { findProcesses, killTree } from '../../../shared/process/process-tree.ts';
import { testUser } from '../../support/test-users.ts';
import { Workbench } from '../runner/workbench.ts';

const isRoot = process.getuid?.() === 0;
const bench = new Workbench();

describe('stopping a command', () => {
  const never = 'while :; do sleep 0.05; done';

  test('it is asked first and may save its work', async () => {
    const stop = new AbortController();
    const { outcome, stdout } = await bench.sh(`trap "echo saved; exit 4" TERM; echo up; ${never}`, {
      stop: stop.signal,
      onOutput: () => stop.abort(),
    });
    expect(outcome).toMatchObject({ cause: 'stopped', exitCode: 4, signal: null, killed: false });
    expect(stdout).toBe('up\nsaved\n');
  });

  test('a stop before the start starts nothing', async () => {
    const { outcome, stdout } = await bench.sh('echo up', { stop: AbortSignal.abort('user') });
    expect(outcome).toMatchObject({ cause: 'stopped', exitCode: null, signal: null, killed: false });
    expect(stdout).toBe('');
  });

  test('a worker may save although the process that started it is gone', async () => {
    const stop = new AbortController();
    await bench.script(
      'worker',
      `#!/bin/sh\ntrap "sleep 0.3; echo saved > ${bench.cwd}/saved; exit" TERM\necho up\n${never}\n`,
    );
    const { outcome } = await bench.sh('./worker & wait', {
      stop: stop.signal,
      onOutput: () => stop.abort(),
    });
    expect(outcome).toMatchObject({ cause: 'stopped', signal: 'SIGTERM', killed: false });
    expect(await readFile(join(bench.cwd, 'saved'), 'utf8')).toBe('saved\n');
  });

  test('after the grace all that ignores SIGTERM is killed, in whatever session', async () => {
    const stop = new AbortController();
    await bench.script('stubborn', `#!/bin/sh\ntrap "" TERM HUP INT\necho up\n${never}\n`);
    let lines = 0;
    const { outcome } = await bench.sh('setsid ./stubborn & setsid -f ./stubborn; exec ./stubborn', {
      stop: stop.signal,
      graceSeconds: 0.3,
      onOutput: (_stream, chunk) => {
        lines += chunk.toString().split('\n').length - 1;
        if (lines === 3) stop.abort();
      },
    });
    expect(outcome).toMatchObject({ cause: 'stopped', exitCode: null, signal: 'SIGKILL', killed: true });
    expect(await findProcesses({ marker: bench.marker })).toEqual([]);
  });

  test('a stopped process (SIGSTOP) gets to save, too', async () => {
    const stop = new AbortController();
    const { outcome, stdout } = await bench.sh(
      'trap "echo saved; exit 0" TERM; echo $$; kill -STOP $$; echo no',
      {
        stop: stop.signal,
        async onOutput(_stream, chunk) {
          if (stop.signal.aborted) return;
          const pid = chunk.toString().trim();
          while (!execFileSync('ps', ['-o', 'state=', '-p', pid], { encoding: 'utf8' }).startsWith('T'))
            await sleep(5);
          stop.abort();
        },
      },
    );
    expect(outcome).toMatchObject({ cause: 'stopped', exitCode: 0, killed: false });
    expect(stdout).toContain('saved');
  });

  test('a timeout', async () => {
    const { outcome } = await bench.sh(never, { timeoutSeconds: 0.2, graceSeconds: 5 });
    expect(outcome).toMatchObject({ cause: 'timeout', signal: 'SIGTERM', killed: false });
  });

  test('a timeout longer than timers can be does not fire at once', async () => {
    expect((await bench.sh('sleep 0.2; exit 5', { timeoutSeconds: 1e9 })).outcome).toMatchObject({
      exitCode: 5,
    });
  });
});

describe('what a command leaves behind', () => {
  test('background processes that hold its output open are ended with it', async () => {
    const { outcome, stdout } = await bench.sh(
      '(trap "" TERM HUP; sleep 300) & setsid -f sleep 300; echo done',
    );
    expect(outcome).toMatchObject({ cause: 'exited', exitCode: 0 });
    expect(stdout).toBe('done\n');
    expect(await findProcesses({ marker: bench.marker })).toEqual([]);
  });

  test.runIf(process.platform === 'linux')('a process that got away cannot hold it up', async () => {
    // Without marker, session, group and parent nothing tells that it belongs to the command.
    const away =
      'env -i setsid -f sh -c "echo \\$\\$; touch away; while :; do echo x; sleep 0.01; done"; until test -e away; do sleep 0.05; done';
    const { outcome, stdout } = await bench.sh(away);
    expect(outcome).toMatchObject({ cause: 'exited', exitCode: 0 });
    await killTree({ session: Number.parseInt(stdout, 10) });
  });

  test.runIf(isRoot)('nothing gets away that has a user of its own', async () => {
    const user = testUser('a command that nothing gets away from');
    const { outcome } = await bench.sh('env -i setsid -f sh -c "trap : TERM; sleep 300; sleep 300"', {
      user,
    });
    expect(outcome).toMatchObject({ cause: 'exited', exitCode: 0 });
    expect(await findProcesses({ uid: user.uid })).toEqual([]);
  });
});
