import { expect, test } from 'vitest';
import {
  installerEnvironment,
  installerSettings,
} from '../../../../shared/runner/environment/operator-environment.ts';

const operator = {
  NODE_EXTRA_CA_CERTS: '/etc/ca.pem',
  HTTPS_PROXY: 'http://proxy.internal:3128',
  no_proxy: 'localhost',
  npm_config_registry: 'https://registry.internal/',
  PIP_INDEX_URL: 'https://index.internal/simple',
  PIP_CERT: '',
  AWS_SECRET_ACCESS_KEY: 'secret',
  NODE_OPTIONS: '--require /tmp/x.js',
  PATH: '/usr/bin',
};

test('registries, proxies and certificates of the operator reach installers, and nothing else does', () => {
  const { AWS_SECRET_ACCESS_KEY: _, NODE_OPTIONS: _1, PATH: _2, PIP_CERT: _3, ...settings } = operator;
  expect(installerSettings(operator)).toEqual(settings);
  expect(installerEnvironment(operator, '/scratch')).toMatchObject({
    ...settings,
    UV_DEFAULT_INDEX: 'https://index.internal/simple',
    HOME: '/scratch',
  });
});
