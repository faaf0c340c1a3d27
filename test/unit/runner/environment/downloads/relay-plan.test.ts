import { describe, expect, test } from 'vitest';
import { relayPlan } from '../../../../../shared/runner/environment/downloads/install-relayed.ts';
import type { EnvironmentBuild } from '../../../../../shared/runner/environment/install/builder-input.ts';

const option = (name: 'index-url' | 'extra-index-url', value: string) =>
  ({ kind: 'option', name, value }) as const;

function plan(
  env: Record<string, string>,
  { config = '', python = '/venv/bin/python', dependencies = [] as EnvironmentBuild['dependencies'] } = {},
) {
  const build = {
    env,
    dependencies,
    packages: '/packages',
    probe: async () => ({ exitCode: 0, tail: config }),
  } as unknown as EnvironmentBuild;
  return relayPlan(build, python === '' ? undefined : python);
}

describe('what is relayed in the place of an installer', () => {
  test('PyPI where nothing is configured', async () => {
    expect(await plan({})).toMatchObject({ indexes: ['https://pypi.org/simple'] });
  });

  test('the project goes before the environment, and that before files', async () => {
    const config =
      "global.index-url='https://file.example/simple'\nglobal.extra-index-url='https://x.example https://y.example'";
    expect(await plan({}, { config })).toMatchObject({
      indexes: ['https://file.example/simple', 'https://x.example', 'https://y.example'],
    });
    const env = { PIP_INDEX_URL: 'https://env.example/simple', PIP_EXTRA_INDEX_URL: 'https://z.example' };
    const dependencies = [
      option('index-url', 'https://own.example/simple'),
      option('extra-index-url', 'https://more.example/'),
    ];
    expect(await plan(env, { config, dependencies })).toMatchObject({
      indexes: ['https://own.example/simple', 'https://z.example', 'https://more.example/'],
    });
    expect(await plan(env, { config })).toMatchObject({
      indexes: ['https://env.example/simple', 'https://z.example'],
    });
    const uv = { UV_DEFAULT_INDEX: 'https://uv.example/simple' };
    expect(await plan(uv, { python: '' })).toMatchObject({ indexes: ['https://uv.example/simple'] });
  });

  test('proxies of the operator are gone through', async () => {
    const env = { HTTPS_PROXY: 'http://proxy:3128', no_proxy: 'a.example', PATH: '/usr/bin' };
    const { PATH: _, ...proxies } = env;
    expect(await plan(env)).toMatchObject({ upstream: { ca: undefined, proxies } });
  });

  test.each([
    [{ PIP_NO_INDEX: '1' }, ''],
    [{ PIP_TRUSTED_HOST: 'a' }, ''],
    [{ PIP_CERT: '/no/such/file' }, ''],
    [{ PIP_INDEX_URL: 'file:///srv/simple' }, ''],
    [{}, "global.proxy='http://a'"],
    [{}, "install.no-index='true'"],
    [{}, "global.client-cert='/a.pem'"],
  ])('nothing with %j and %j, which only the installer can do', async (env, config) => {
    expect(await plan(env, { config })).toBeNull();
  });
});
