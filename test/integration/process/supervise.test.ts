import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { Workbench } from '../runner/workbench.ts';

const bench = new Workbench();

describe('how a command ends by itself', () => {
  test('exit codes, output of both streams and the working folder', async () => {
    const { outcome, stdout, stderr } = await bench.sh('pwd -P; echo bad >&2; exit 3');
    expect(outcome).toMatchObject({ cause: 'exited', exitCode: 3 });
    expect(stdout.trim().endsWith(bench.cwd)).toBe(true);
    expect(stderr).toBe('bad\n');
  });

  test('signals', async () => {
    expect((await bench.sh('kill -SEGV $$')).outcome).toMatchObject({
      cause: 'signalled',
      signal: 'SIGSEGV',
    });
  });

  test('arguments reach the program as they are, and there is no input', async () => {
    const argv = ['sh', '-c', 'cat; printf "%s|" "$@"', 'sh', '$HOME; rm *', '', 'a b'];
    expect((await bench.run(argv)).stdout).toBe('$HOME; rm *||a b|');
  });

  test('it sees nothing of the environment of this process', async () => {
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret');
    const { stdout } = await bench.run(['env'], { env: { PATH: '/usr/bin:/bin', CONFIG_PATH: '/c' } });
    vi.unstubAllEnvs();
    const names = stdout.trim().split('\n').sort();
    expect(names).toEqual(['CONFIG_PATH=/c', 'PATH=/usr/bin:/bin', `SUPERVISE_TEST=${bench.marker.value}`]);
  });

  test('it leads a session of its own', async () => {
    const { stdout } = await bench.sh('echo $$; ps -o pid=,pgid= -p $$');
    expect(new Set(stdout.trim().split(/\s+/)).size).toBe(1);
  });

  test('the memory of its tree is measured', async () => {
    const planned = vi.spyOn(globalThis, 'setTimeout');
    onTestFinished(() => void planned.mockRestore());
    // Where there is a limit, it is summed up twenty times a second and its processes are listed once.
    const sums = () => planned.mock.calls.filter(([, milliseconds]) => milliseconds === 50).length;
    const holding = Promise.withResolvers<void>();
    const script = [
      'import os, time',
      'held = bytes([1]) * 100_000_000',
      'print("holding", flush=True)',
      'while not os.path.exists("measured"): time.sleep(0.01)',
    ];
    const running = bench.run(['python3', '-c', script.join('\n')], {
      env: { PATH: process.env['PATH'] ?? '' },
      memoryBytes: 1e9,
      onOutput: async () => holding.resolve(),
    });
    await Promise.race([holding.promise, running]);
    const before = sums();
    // More than a second of them: one list at least is of what holds its memory.
    await expect.poll(() => sums() - before, { interval: 20 }).toBeGreaterThan(25);
    await writeFile(join(bench.cwd, 'measured'), '');
    const { outcome } = await running;
    expect(outcome).toMatchObject({ cause: 'exited', exitCode: 0 });
    expect('peakRssBytes' in outcome && outcome.peakRssBytes).toBeGreaterThan(100_000_000);
  });
});

describe('commands that cannot be started', () => {
  test.each([
    ['no-such-program', 'no-such-program: not found in PATH'],
    ['train.py', 'train.py: not found in PATH; to run the file of that name, write ./train.py'],
    ['./missing', './missing: does not exist'],
    ['./train.py', './train.py: is not executable'],
    ['./folder', './folder: is a folder'],
    ['./lost', './lost: its interpreter /no/such/python does not exist'],
    ['./lost-env', './lost-env: its interpreter no-such-python is not found in PATH'],
    ['./windows', './windows: has Windows line ends, so its #! line names no interpreter'],
    ['./text', './text: is a text file without a #! line that names its interpreter'],
    ['', 'the command is blank'],
    ['./fine\0', './fine\0: does not exist'],
  ])('%j', async (program, message) => {
    await bench.script('train.py', '#!/bin/sh\n', 0o644);
    await mkdir(join(bench.cwd, 'folder'));
    await bench.script('lost', '#!/no/such/python -u\n');
    await bench.script('lost-env', '#!/usr/bin/env -S no-such-python -u\n');
    await bench.script('windows', '#!/bin/sh\r\necho\r\n');
    await bench.script('text', 'import torch\n');
    await bench.script('fine', '#!/bin/sh\n');
    expect((await bench.run([program])).outcome).toEqual({ cause: 'not-started', message });
  });

  test('programs are looked for in the PATH of the command, the first that can be run', async () => {
    await mkdir(join(bench.cwd, 'a'));
    await mkdir(join(bench.cwd, 'b'));
    await bench.script('a/tool', '#!/bin/sh\necho a\n', 0o644);
    await bench.script('b/tool', '#!/bin/sh\necho b $0\n');
    const { stdout } = await bench.run(['tool'], { env: { PATH: 'a:b' } });
    expect(stdout).toMatch(/^b .*\/b\/tool\n$/);
    expect((await bench.run(['tool'], { env: { PATH: 'a' } })).outcome).toMatchObject({
      message: 'tool: is not executable',
    });
    expect((await bench.run(['tool'], { env: {} })).outcome).toMatchObject({ cause: 'not-started' });
  });

  test('python is python3 where there is no other', async () => {
    await mkdir(join(bench.cwd, 'a'));
    await mkdir(join(bench.cwd, 'b'));
    await bench.script('a/python3', '#!/bin/sh\necho 3\n');
    expect((await bench.run(['python'], { env: { PATH: 'a:b' } })).stdout).toBe('3\n');
    await bench.script('b/python', '#!/bin/sh\necho own\n');
    expect((await bench.run(['python'], { env: { PATH: 'a:b' } })).stdout).toBe('own\n');
    expect((await bench.run(['python'], { env: {} })).outcome).toMatchObject({
      message: 'python: not found in PATH',
    });
  });

  test('python3 is python where there is no other', async () => {
    await mkdir(join(bench.cwd, 'a'));
    await bench.script('a/python', '#!/bin/sh\necho own\n');

    const { stdout } = await bench.run(['python3'], { env: { PATH: 'a' } });
    const { outcome } = await bench.run(['python3'], { env: {} });

    expect(stdout).toBe('own\n');
    expect(outcome).toMatchObject({ message: 'python3: not found in PATH' });
  });

  test('a missing folder, an argument too long, and NUL in an argument', async () => {
    const missing = await bench.run(['ls'], { cwd: join(bench.cwd, 'no') });
    expect(missing.outcome).toMatchObject({ message: expect.stringContaining('folder') });
    const long = await bench.run(['ls', 'x'.repeat(10_000_000)]);
    expect(long.outcome).toMatchObject({ cause: 'not-started', message: expect.stringContaining('E2BIG') });
    expect((await bench.run(['ls', 'a\0b'])).outcome).toMatchObject({ cause: 'not-started' });
  });
});
