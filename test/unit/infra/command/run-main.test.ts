import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';

const folder = new URL('../../../../infra/command/', import.meta.url);
const client = new URL('../../../../shared/client/', import.meta.url);

/** Runs a command whose body is `body`, in a process of its own. */
function run(body: string) {
  const program = `
    import { CommandError } from '${new URL('command-error.ts', folder)}';
    import { HelpRequestedError } from '${new URL('read-flags.ts', folder)}';
    import { runMain } from '${new URL('run-main.ts', folder)}';
    import { ProblemError } from '${new URL('problem-error.ts', client)}';
    import { UnexpectedAnswerError } from '${new URL('unexpected-answer-error.ts', client)}';
    import { UnreachableError } from '${new URL('unreachable-error.ts', client)}';
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

  test('tells what the service refuses, and that it is away, without a stack', () => {
    const refused = { errors: [{ name: 'username', message: 'is blank' }], detail: 'Two faults.' };
    const refusal = (document: object) =>
      `throw new ProblemError(400, ${JSON.stringify(document)}, 'HTTP 400');`;
    expect(run(refusal(refused)).stderr).toBe('The server answered 400: username is blank\n');
    expect(run(refusal({ detail: 'No.' }))).toEqual({
      status: 1,
      stdout: '',
      stderr: 'The server answered 400: No.\n',
    });
    const away = `throw new UnreachableError('http://a', new Error('gone'));`;
    expect(run(away)).toEqual({ status: 1, stdout: '', stderr: 'http://a cannot be reached: gone\n' });
    const other = `throw new UnexpectedAnswerError('http://a redirects.');`;
    expect(run(other)).toEqual({ status: 1, stdout: '', stderr: 'http://a redirects.\n' });
  });

  test('tells anything else with its stack', () => {
    const { status, stderr } = run(`throw new TypeError('a fault of ours');`);
    expect(status).toBe(1);
    expect(stderr).toMatch(/^TypeError: a fault of ours\n +at /);
    expect(run('throw 7;')).toEqual({ status: 1, stdout: '', stderr: '7\n' });
  });
});
