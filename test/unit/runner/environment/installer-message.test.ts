import { expect, test } from 'vitest';
import { installerMessage } from '../../../../shared/runner/environment/install/installer.ts';
import {
  engineEnvironment,
  installerEnvironment,
  maskCredentials,
} from '../../../../shared/runner/environment/operator-environment.ts';

test("gives pip's, uv's and npm's own reasons", () => {
  expect(
    installerMessage(
      'Looking in links\nERROR: Could not find x==9\nERROR: No matching distribution found for x==9\n[notice] upgrade',
    ),
  ).toBe('No matching distribution found for x==9\nCould not find x==9');
  expect(installerMessage('Using Python\n  × No solution found:\n  ╰─▶ Because x was not found')).toBe(
    'Because x was not found\nNo solution found:',
  );
  expect(
    installerMessage(
      'npm warn old\nnpm error code E404\nnpm error 404 Not Found\nnpm error A complete log of this run can be found in: /x',
    ),
  ).toBe('Not Found\ncode E404');
  expect(installerMessage('one\n\ntwo\n')).toBe('one\ntwo');
});

test.each([
  [
    'pip',
    `ERROR: Ignored the following versions that require a different python version: ${'1.21.2 '.repeat(99)}
ERROR: Could not find a version that satisfies the requirement numpy==99.1 (from versions: ${'1.3.0, '.repeat(99)})
ERROR: No matching distribution found for numpy==99.1`,
    'No matching distribution found for numpy==99.1',
  ],
  [
    'pip, of versions that conflict',
    `ERROR: Cannot install a==1 and b==2 because these package versions have conflicting dependencies.
ERROR: ResolutionImpossible: for help visit the documentation`,
    'Cannot install a==1 and b==2 because',
  ],
  [
    'uv',
    `  × No solution found when resolving dependencies:
  ╰─▶ Because there is no version of numpy==99.1 and you require numpy==99.1, we can conclude …`,
    'Because there is no version of numpy==99.1',
  ],
  [
    'npm, of a version',
    `npm error code ETARGET
npm error notarget No matching version found for left-pad@99.1.
npm error notarget In most cases you or one of your dependencies are requesting a package version that doesn't exist.`,
    'No matching version found for left-pad@99.1.',
  ],
  [
    'npm, of a package',
    `npm error code E404
npm error 404 Not Found - GET https://registry.example/nonexistent
npm error 404
npm error 404  The requested resource 'nonexistent@*' could not be found or you do not have permission to access it.
npm error 404 Note that you can also install from a`,
    "The requested resource 'nonexistent@*' could not be found",
  ],
  [
    'docker',
    `Using default tag: latest
Error response from daemon: manifest for x:y not found: manifest unknown: manifest unknown`,
    'Error response from daemon: manifest for x:y not found',
  ],
])('begins with the line that matters: %s', (_, tail, beginning) => {
  expect(installerMessage(tail).slice(0, beginning.length)).toBe(beginning);
});

test('is short, plain and without credentials', () => {
  const message = installerMessage(
    `ERROR: \u001b[31mcannot reach https://me:s3cr@t@host/simple ${'x'.repeat(9000)}`,
  );
  expect(message.length).toBeLessThanOrEqual(600);
  expect(message).toContain('cannot reach https://***@host/simple');
  expect(message).not.toContain('\u001b');
});

test('masks user and password, and leaves other text alone', () => {
  expect(maskCredentials('a https://u:p@h/x and http://t@h b@c https://h/p@q')).toBe(
    'a https://***@h/x and http://***@h b@c https://h/p@q',
  );
});

test('an installer gets registry settings of the operator and nothing else', () => {
  const env = installerEnvironment(
    {
      PATH: 'bin:/usr/bin:./x',
      AWS_SECRET_ACCESS_KEY: 's',
      AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: '/v2',
      ADMIN_PASSWORD: 'p',
      PIP_INDEX_URL: 'https://index.example/simple',
      npm_config_registry: 'https://npm.example',
      npm_config_script_shell: '/bin/evil',
      PIP_TARGET: '/etc',
      HOME: '/root',
    },
    '/scratch',
  );
  expect(env).toMatchObject({
    PATH: '/usr/bin',
    HOME: '/scratch',
    TMPDIR: '/scratch/tmp',
    PIP_INDEX_URL: 'https://index.example/simple',
    UV_INDEX_URL: 'https://index.example/simple',
    npm_config_registry: 'https://npm.example',
  });
  expect(Object.keys(env).filter((name) => /AWS|ADMIN|TARGET|shell/.test(name))).toEqual([]);
  expect(engineEnvironment({ DOCKER_HOST: 'unix:///x', AWS_SESSION_TOKEN: 's' })).not.toHaveProperty(
    'AWS_SESSION_TOKEN',
  );
});
