import { expect, test } from 'vitest';
import { parsePipConfig, pipConfig } from '../../../../shared/runner/environment/install/pip-config.ts';
import {
  installerEnvironment,
  installerSettings,
  withProjectIndexes,
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
    UV_INDEX_URL: 'https://index.internal/simple',
    HOME: '/scratch',
  });
});

test('settings of pip are said to uv in its own words, and those of uv have priority', () => {
  const pip = {
    PIP_EXTRA_INDEX_URL: 'https://a.example\nhttps://b.example',
    PIP_FIND_LINKS: '/no/such/folder https://c.example',
    PIP_TRUSTED_HOST: 'a.example b.example',
    PIP_ONLY_BINARY: 'numpy,scipy',
    REQUESTS_CA_BUNDLE: '/etc/ca.pem',
  };

  expect(installerEnvironment({ ...pip, UV_INSECURE_HOST: 'uv.example' }, '/scratch')).toMatchObject({
    UV_EXTRA_INDEX_URL: 'https://a.example https://b.example',
    UV_INDEX_STRATEGY: 'unsafe-best-match',
    UV_FIND_LINKS: 'https://c.example',
    UV_INSECURE_HOST: 'uv.example',
    UV_NO_BUILD_PACKAGE: 'numpy scipy',
    SSL_CERT_FILE: '/etc/ca.pem',
  });
});

test('what a project says of indexes has priority, by whatever name', () => {
  const named = {
    PIP_INDEX_URL: 'https://a',
    UV_DEFAULT_INDEX: 'https://b',
    UV_EXTRA_INDEX_URL: 'https://c',
  };

  expect(withProjectIndexes(named, { UV_INDEX_URL: 'https://d' })).toEqual({
    UV_EXTRA_INDEX_URL: 'https://c',
    UV_INDEX_URL: 'https://d',
  });
  expect(withProjectIndexes(named, {})).toEqual(named);
});

test('the files of pip say where packages are', async () => {
  const text =
    '[global]\nindex-url = https://a.example/simple\nextra_index_url =\n    https://b.example\n    # none\n    https://c.example\n[list]\ntimeout = 9\n[install]\nno-index: true\nquiet = 1\n';

  expect(parsePipConfig(text)).toEqual({
    PIP_INDEX_URL: 'https://a.example/simple',
    PIP_EXTRA_INDEX_URL: 'https://b.example https://c.example',
    PIP_NO_INDEX: 'true',
  });
  expect(await pipConfig({ PIP_CONFIG_FILE: '/dev/null' })).toEqual({});
});
