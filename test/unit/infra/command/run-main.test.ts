import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';

const folder = new URL('../../../../infra/command/', import.meta.url);

/** Runs a command whose body is `body`, in a process of its own. */
function run(body: string) {
  const program = `
    import { CommandError } from '${new URL('command-error.ts', folder)}';
    import { HelpRequestedError } from '${new URL('read-flags.ts', folder)}';
    import { runMain } from '${new URL('run-main.ts', folder)}';
    await runMain(async () => { ${body} });`;
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

describe('a command', () => {
  test('ends with its own exit code', () => {
    expect(run('return 3;')).toEqual({ status: 3, stdout: '', stderr: '' });
  });

  test('says how it is used on standard output, which is no failure', () => {
    expect(run(`throw new HelpRequestedError('Usage');`)).toEqual({
      status: 0,
      stdout: 'Usage\n',
      stderr: '',
    });
  });

  test('tells what is to be put right in its own words', () => {
    expect(run(`throw new CommandError('Say it.');`)).toEqual({ status: 1, stdout: '', stderr: 'Say it.\n' });
    const lacking = `throw Object.assign(new Error('Sign in.'), { name: 'CredentialsProviderError' });`;
    expect(run(lacking)).toMatchObject({
      status: 1,
      stdout: '',
      stderr: expect.stringMatching(/^No AWS credentials: Sign in\.\n/),
    });
  });

  test('tells anything else with its stack', () => {
    const { status, stderr } = run(`throw new TypeError('a fault of ours');`);
    expect(status).toBe(1);
    expect(stderr).toMatch(/^TypeError: a fault of ours\n +at /);
    expect(run('throw 7;')).toEqual({ status: 1, stdout: '', stderr: '7\n' });
  });
});
