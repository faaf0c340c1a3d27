import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from '@stricli/core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { application } from '../../../cli/application.ts';
import { type CliContext, cliContext } from '../../../cli/context.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mps-usage-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Runs a command line in this process, at a service that nobody is to ask. */
async function ran(args: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const printed = { stdout: '', stderr: '' };
  const collect = (stream: 'stdout' | 'stderr') => ({
    write(text: string) {
      printed[stream] += text;
    },
  });
  const env = { HOME: folder, MPS_URL: 'http://127.0.0.1:1', MPS_TOKEN: 'a.b' };
  const base = cliContext(process);
  const context: CliContext = {
    ...base,
    env,
    folder,
    process: {
      ...base.process,
      stdout: collect('stdout'),
      stderr: collect('stderr'),
      env,
      exitCode: null,
    },
  };
  await run(application(false), args, context);
  return { code: Number(context.process.exitCode ?? 0), ...printed };
}

describe('a command line that cannot be', () => {
  test.each([
    { args: ['show', 'no id'], fault: 'is no id' },
    { args: ['compare', 'latest'], fault: 'two experiments or more' },
    { args: ['ls', '-n', '0'], fault: 'whole number' },
    { args: ['cancel'], fault: 'ID' },
    { args: ['run', '--nodes', 'many'], fault: 'must be a number' },
    { args: ['run', '-S', 'nothing'], fault: 'NAME=VALUE' },
    { args: ['run', '--speed'], fault: 'No flag registered for --speed' },
    { args: ['run', '-c', 'a.yaml', '-c', 'b.yaml'], fault: 'config' },
    { args: ['cancle'], fault: 'did you mean `cancel`' },
    { args: ['login', 'http://example.com'], fault: 'clear text' },
    { args: ['login', 'nowhere'], fault: 'no address' },
    { args: ['login', 'https://ada:secret@example.com'], fault: 'neither name nor password' },
    { args: ['rerun', '4k8f', '-S', 'a={b: 1}'], fault: 'single values' },
    { args: ['data', 'push', 'a', 'missing'], fault: 'no file or folder' },
    { args: ['data', 'push', 'a', '.', '--as-file'], fault: 'is a folder' },
    { args: ['models', 'push', 'a', 'missing.onnx'], fault: 'There is no file' },
    { args: ['models', 'push', 'a', 'b', '--from', 'latest', '--data', 'c'], fault: 'external data' },
    { args: ['prune', 'a'], fault: 'strategy' },
    { args: ['users', 'type', 'ada', 'king'], fault: 'guest, viewer, developer, admin' },
    { args: ['tokens', 'create', 'ci', '--days', '1000'], fault: 'from 1 to 365' },
    { args: ['completion', 'csh'], fault: 'bash, zsh, fish' },
  ])(
    '$args is told with what is allowed, without a stack, before anything is sent',
    async ({ args, fault }) => {
      const { code, stdout, stderr } = await ran(args);
      expect(stderr).toContain(fault);
      expect(stderr).not.toMatch(/^ +at /m);
      expect(stdout).toBe('');
      // The library's own codes are negative, which the program ends as 2.
      expect(code < 0 ? 2 : code).toBe(2);
    },
  );

  test('every command has examples in its help', async () => {
    const { stdout } = await ran(['--help']);
    const listed = stdout.slice(stdout.indexOf('COMMANDS')).matchAll(/^ {2}([a-z]+) {2,}/gm);
    const names = [...listed].map(([, name]) => name ?? '');
    expect(names.length).toBeGreaterThan(20);
    const maps = new Set(['data', 'config', 'env', 'models', 'users', 'tokens']);
    for (const name of names) {
      const help = await ran([name, '--help']);
      expect(help.stdout, name).toMatch(maps.has(name) ? /COMMANDS/ : /Examples?:\n {2}\S/);
    }
  });
});
