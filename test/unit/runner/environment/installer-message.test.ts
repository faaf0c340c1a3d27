import { expect, test } from 'vitest';
import { installerMessage } from '../../../../shared/runner/environment/installer-message.ts';
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
  ).toBe('Could not find x==9\nNo matching distribution found for x==9');
  expect(installerMessage('Using Python\n  × No solution found:\n  ╰─▶ Because x was not found')).toBe(
    'No solution found:\nBecause x was not found',
  );
  expect(
    installerMessage(
      'npm warn old\nnpm error code E404\nnpm error 404 Not Found\nnpm error A complete log of this run can be found in: /x',
    ),
  ).toBe('code E404\n404 Not Found');
  expect(installerMessage('one\n\ntwo\n')).toBe('one\ntwo');
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
    UV_DEFAULT_INDEX: 'https://index.example/simple',
    npm_config_registry: 'https://npm.example',
  });
  expect(Object.keys(env).filter((name) => /AWS|ADMIN|TARGET|shell/.test(name))).toEqual([]);
  expect(engineEnvironment({ DOCKER_HOST: 'unix:///x', AWS_SESSION_TOKEN: 's' })).not.toHaveProperty(
    'AWS_SESSION_TOKEN',
  );
});
