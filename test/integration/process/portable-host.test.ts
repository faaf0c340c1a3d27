import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isAlive } from '../../../shared/host/is-alive.ts';
import { linuxHost } from '../../../shared/host/linux/linux-host.ts';
import { portableHost } from '../../../shared/host/portable/portable-host.ts';
import { chooseHost, hostFault } from '../../../shared/host/this-host.ts';

const sleeping = () => {
  const child = spawn('sleep', ['600'], { detached: true, stdio: 'ignore' });
  if (child.pid === undefined) throw new Error('sleep was not started');
  return Object.assign(child, { pid: child.pid });
};

test('ps shows a process with its parent, group and memory', async () => {
  const child = sleeping();

  const found = (await portableHost.listProcesses()).find(({ pid }) => pid === child.pid);

  expect(found).toMatchObject({ ppid: process.pid, group: child.pid });
  expect(found?.residentBytes).toBeGreaterThan(0);
  child.kill('SIGKILL');
});

test('an identity is that of one process, whose start may be told a second later', async () => {
  const child = sleeping();
  const identity = await portableHost.identityOf(child.pid);
  const [pid, start = 0] = identity.split('-').map(Number);

  expect(await portableHost.isRunning(identity)).toBe(true);
  expect(await portableHost.isRunning(`${pid}-${start + 1}`)).toBe(true);
  // What the pid was before, or a jump of the clock.
  expect(await portableHost.isRunning(`${pid}-${start - 3600}`)).toBe(false);

  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
  expect(await portableHost.isRunning(identity)).toBe(false);
});

test('an identity that the other kind of host wrote is taken for its process while the pid lives', async () => {
  const child = sleeping();
  const [portable, linux] = [await portableHost.identityOf(child.pid), await linuxHost.identityOf(child.pid)];
  const isRunning = async () => [await linuxHost.isRunning(portable), await portableHost.isRunning(linux)];

  expect(await isRunning()).toEqual([true, true]);

  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
  expect(await isRunning()).toEqual([false, false]);
});

test('a sentinel ends a group with the process that started it, and not before', async () => {
  const module = JSON.stringify(join(import.meta.dirname, '../../../shared/host/portable/sentinel.ts'));
  const script = `
    const { spawn } = await import('node:child_process');
    const { startSentinel } = await import(${module});
    const start = () => spawn('sh', ['-c', 'sleep 600 & wait'], { detached: true, stdio: 'ignore' });
    const [held, released] = [start(), start()];
    startSentinel(held);
    startSentinel(released)();
    console.log(held.pid, released.pid);
    setInterval(() => {}, 1000);`;
  const parent = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(parent.stdout, 'data')) as [Buffer];
  const [held = 0, released = 0] = String(line).trim().split(' ').map(Number);
  expect(isAlive(-held)).toBe(true);

  parent.kill('SIGKILL');

  await expect.poll(() => isAlive(-held)).toBe(false);
  expect(isAlive(-released)).toBe(true);
  process.kill(-released, 'SIGKILL');
});

test.each([
  ['portable', true, 'portable'],
  ['linux', true, 'linux'],
  [undefined, true, 'linux'],
  ['', true, 'linux'],
  [undefined, false, 'portable'],
])('MPS_HOST=%s chooses on Linux (%s) the host %s', (asked, isLinux, name) => {
  expect(chooseHost(asked, isLinux).name).toBe(name);
});

test.each([
  ['plan9', true, 'MPS_HOST must be linux or portable, not "plan9".'],
  ['linux', false, expect.stringMatching(/^MPS_HOST=linux needs Linux/)],
  ['linux', true, undefined],
  ['portable', false, undefined],
  ['', false, undefined],
  [undefined, false, undefined],
])('MPS_HOST=%s on Linux (%s): %s', (asked, isLinux, fault) => {
  expect(hostFault(asked, isLinux)).toEqual(fault);
});
