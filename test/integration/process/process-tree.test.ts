import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { afterEach, describe, expect, test } from 'vitest';
import {
  findProcesses,
  killTree,
  processStartTime,
  signalProcesses,
} from '../../../shared/process/process-tree.ts';
import { testUser } from '../../support/test-users.ts';

const isLinux = process.platform === 'linux';
const marker = () => ({ name: 'TREE_TEST', value: crypto.randomUUID() });
const started: number[] = [];

/** A shell as the head of a tree of its own, with the marker in its environment. */
function run(script: string, { name, value } = marker()): ChildProcess & { pid: number } {
  const child = spawn('sh', ['-c', script], {
    env: { PATH: '/usr/bin:/bin', [name]: value },
    detached: true,
    stdio: 'ignore',
  });
  if (child.pid === undefined) throw new Error('sh was not started');
  started.push(child.pid);
  return Object.assign(child, { pid: child.pid });
}

async function waitFor(selector: Parameters<typeof findProcesses>[0], count: number) {
  await expect.poll(async () => (await findProcesses(selector)).length, { interval: 20 }).toBe(count);
  return await findProcesses(selector);
}

afterEach(async () => {
  for (const pid of started.splice(0)) await killTree({ group: pid, session: pid });
});

describe('finding processes', () => {
  test('a root finds itself and its descendants', async () => {
    const { pid } = run('sleep 300 & sleep 300');
    const found = await waitFor({ root: pid }, 3);
    expect(found.find((row) => row.pid === pid)).toMatchObject({ ppid: process.pid, group: pid });
    expect(found.filter((row) => row.ppid === pid)).toHaveLength(2);
    expect(found.every((row) => row.residentBytes > 0)).toBe(true);
  });

  test('group and session find what has lost its parent', async () => {
    const child = run('(sleep 300 &) ; kill -9 $$');
    await once(child, 'exit');
    const [orphan] = await waitFor({ group: child.pid }, 1);
    expect(orphan?.ppid).not.toBe(child.pid);
    expect(await findProcesses({ root: child.pid })).toEqual([]);
    if (isLinux) expect(await findProcesses({ session: child.pid })).toMatchObject([{ pid: orphan?.pid }]);
  });

  test.runIf(isLinux)('the marker finds what has left parent, group and session', async () => {
    const mine = marker();
    const child = run('setsid -f sh -c "unset TREE_TEST; sleep 300"; kill -9 $$', mine);
    await once(child, 'exit');
    // The shell still carries the marker, and what it started without it is its child.
    const found = await waitFor({ marker: mine }, 2);
    started.push(...found.map(({ session }) => session));
    expect(found.every(({ group }) => group !== child.pid)).toBe(true);
    expect(await findProcesses({ marker: { ...mine, value: mine.value.slice(0, -1) } })).toEqual([]);
  });

  test('neither this process nor its ancestors are ever found', async () => {
    const { pid } = run('sleep 300');
    const found = (await findProcesses({ root: process.pid })).map((row) => row.pid);
    expect(found).toContain(pid);
    expect(found).not.toContain(process.pid);
    expect(found).not.toContain(process.ppid);
    const above = (await findProcesses({ root: process.ppid })).map((row) => row.pid);
    expect(above).not.toContain(process.pid);
    expect(above).not.toContain(process.ppid);
  });

  test.runIf(isLinux)('zombies do not count, but a process whose first thread has ended does', async () => {
    const zombie = run('sleep 300 & exec sleep 300');
    const [, child] = await waitFor({ root: zombie.pid }, 2);
    process.kill(child?.pid ?? 0, 'SIGKILL');
    await waitFor({ root: zombie.pid }, 1);
    const script = [
      'import ctypes, threading, time',
      'threading.Thread(target=lambda: time.sleep(300)).start()',
      'ctypes.CDLL(None).pthread_exit(None)',
    ].join('\n');
    const threaded = run(`exec python3 -c '${script}'`);
    await expect.poll(() => readFile(`/proc/${threaded.pid}/stat`, 'latin1')).toContain(') Z ');
    expect(await findProcesses({ group: threaded.pid })).toHaveLength(1);
    await killTree({ group: threaded.pid });
    expect(await findProcesses({ group: threaded.pid })).toEqual([]);
  });

  test.each([
    { root: 1 },
    { root: 0 },
    { group: 1 },
    { session: -5 },
    { root: Number.NaN },
    { uid: 0 },
    { uid: process.getuid?.() ?? 0 },
    { marker: { name: '', value: 'x' } },
    { marker: { name: 'x', value: '' } },
  ])('%j would match too much and is refused', async (selector) => {
    await expect(findProcesses(selector)).rejects.toThrow(RangeError);
  });
});

describe('signalling processes', () => {
  test('each process gets the signal, and their number is told', async () => {
    const child = run('trap "exit 7" TERM; sleep 300 & wait');
    await waitFor({ root: child.pid }, 2);
    const exit = once(child, 'exit');
    expect(await signalProcesses({ root: child.pid }, 'SIGTERM')).toBe(2);
    expect(await exit).toEqual([7, null]);
    expect(await signalProcesses({ root: child.pid }, 'SIGTERM')).toBe(0);
  });
});

describe('killing a tree', () => {
  test('what ignores SIGTERM, is stopped, or sits in another session, ends', async () => {
    const mine = marker();
    const child = run(
      'trap "" TERM; setsid sh -c "sleep 300 & sleep 300" & (sh -c "kill -STOP \\$\\$" &) ; sleep 300',
      mine,
    );
    await waitFor(isLinux ? { marker: mine } : { root: child.pid }, 6);
    await killTree({ root: child.pid, group: child.pid, marker: mine });
    expect(await findProcesses({ root: child.pid, group: child.pid, marker: mine })).toEqual([]);
    expect(await processStartTime(child.pid)).toBeNull();
  });

  test('a fork storm ends', async () => {
    const script = 'while :; do sh -c "sleep 300 & sleep 300" & sleep 0.005; done';
    const child = run(`${script} & ${script}`);
    await expect.poll(async () => (await findProcesses({ group: child.pid })).length).toBeGreaterThan(20);
    await killTree({ root: child.pid, group: child.pid });
    expect(await findProcesses({ group: child.pid })).toEqual([]);
  });

  test.runIf(isLinux && process.getuid?.() === 0)(
    'a user whose processes fork and exit all the time',
    async () => {
      const { uid } = testUser('processes that fork all the time');
      const script = [
        'import os, time',
        'print("up", flush=True)',
        'while True:',
        '  time.sleep(0.001)',
        '  if os.fork():',
        '    os._exit(0)',
        '  os.setsid()',
        '  os.environ.clear()',
      ].join('\n');
      const options = { uid, gid: uid, cwd: '/', detached: true };
      const { stdout } = spawn('python3', ['-c', script], {
        ...options,
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      const ended = once(stdout, 'end'); // every process of the chain holds the pipe open
      await once(stdout, 'data');
      await killTree({ uid });
      await ended;
      expect(await findProcesses({ uid })).toEqual([]);
    },
  );
});

test('the start time tells a process apart and is null when there is none', async () => {
  const child = run('sleep 300');
  const time = await processStartTime(child.pid);
  expect(time).not.toBeNull();
  expect(await processStartTime(child.pid)).toBe(time);
  if (isLinux) expect(time).not.toBe(await processStartTime(process.pid));
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
  expect(await processStartTime(child.pid)).toBeNull();
});
