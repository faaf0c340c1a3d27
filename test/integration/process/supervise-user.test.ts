import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { testUser } from '../../support/test-users.ts';
import { Workbench } from '../runner/workbench.ts';

const isRoot = process.getuid?.() === 0;
const bench = new Workbench();

describe.runIf(isRoot)('a command with a user of its own', () => {
  const { uid } = testUser('a command with few rights');
  const user = { uid, gid: uid + 100 };

  test('has its ids alone, no capabilities and no way to more', async () => {
    const { stdout } = await bench.sh('id -u; id -g; id -G; grep -E "^(Cap|NoNewPrivs)" /proc/self/status', {
      user,
    });
    const [own, group, groups, ...status] = stdout.trim().split('\n');
    expect([own, group, groups].map(Number)).toEqual([user.uid, user.gid, user.gid]);
    expect(status.filter((line) => line.startsWith('Cap')).every((line) => /\t0+$/.test(line))).toBe(true);
    expect(status).toContain('NoNewPrivs:\t1');
  });

  test('cannot read what belongs to root, the environment of the supervisor included', async () => {
    await bench.script('secret', 'secret', 0o600);
    await chmod(bench.cwd, 0o755);
    const { stdout, stderr } = await bench.sh(
      `cat secret; cat /proc/${process.pid}/environ; cat /proc/$PPID/environ`,
      {
        user,
      },
    );
    expect(stdout).toBe('');
    expect(stderr.match(/Permission denied/g)).toHaveLength(3);
  });

  test('its pid is that of the process that was started, and stopping reaches it', async () => {
    const stop = new AbortController();
    const { outcome } = await bench.sh('trap "exit 9" TERM; echo up; while :; do sleep 0.05; done', {
      user,
      stop: stop.signal,
      onOutput: () => stop.abort(),
    });
    expect(outcome).toMatchObject({ cause: 'stopped', exitCode: 9, killed: false });
  });

  test('its environment takes effect only after the rights are dropped', async () => {
    const env = { PATH: '/usr/bin:/bin', LD_PRELOAD: join(bench.cwd, 'evil.so') };
    const { stderr } = await bench.run(['true'], { user, env });
    // The loader complains once for each program that it should have been loaded into.
    expect(stderr.match(/evil\.so/g)).toHaveLength(1);
  });

  test('what only root may execute is told before the start', async () => {
    await chmod(bench.cwd, 0o755);
    await bench.script('mine', '#!/bin/sh\n', 0o700);
    expect((await bench.run(['./mine'], { user })).outcome).toMatchObject({
      message: './mine: is not executable',
    });
    await chmod(bench.cwd, 0o700);
    await bench.script('mine', '#!/bin/sh\n', 0o755);
    expect((await bench.run(['./mine'], { user })).outcome).toMatchObject({
      message: './mine: is not executable',
    });
  });
});

test.runIf(!isRoot)('without root the user cannot be changed, and that is said', async () => {
  const { outcome } = await bench.sh('id', { user: testUser('a command with few rights') });
  expect(outcome).toMatchObject({ cause: 'not-started' });
});
