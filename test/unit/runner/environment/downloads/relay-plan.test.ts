import { describe, expect, test } from 'vitest';
import { relayPlan } from '../../../../../shared/runner/environment/downloads/with-relay.ts';
import { installerEnvironment } from '../../../../../shared/runner/environment/operator-environment.ts';

const option = (name: 'index-url' | 'extra-index-url', value: string) =>
  ({ kind: 'option', name, value }) as const;

const plan = (operator: Record<string, string>, dependencies: readonly ReturnType<typeof option>[] = []) =>
  relayPlan({ env: installerEnvironment(operator, '/scratch'), dependencies });

describe('what is relayed in the place of uv', () => {
  test('PyPI where nothing is configured', async () => {
    expect(await plan({})).toMatchObject({ indexes: ['https://pypi.org/simple'] });
  });

  test('the project goes before the environment', async () => {
    const env = { PIP_INDEX_URL: 'https://env.example/simple', PIP_EXTRA_INDEX_URL: 'https://z.example' };
    const dependencies = [
      option('index-url', 'https://own.example/simple'),
      option('extra-index-url', 'https://more.example/'),
    ];
    expect(await plan(env, dependencies)).toMatchObject({
      indexes: ['https://own.example/simple', 'https://z.example', 'https://more.example/'],
    });
    expect(await plan(env)).toMatchObject({
      indexes: ['https://env.example/simple', 'https://z.example'],
    });
    expect(await plan({ UV_DEFAULT_INDEX: 'https://uv.example/simple' })).toMatchObject({
      indexes: ['https://uv.example/simple'],
    });
  });

  test('proxies of the operator are gone through', async () => {
    const env = { HTTPS_PROXY: 'http://proxy:3128', no_proxy: 'a.example', PATH: '/usr/bin' };
    const { PATH: _, ...proxies } = env;
    expect(await plan(env)).toMatchObject({ upstream: { ca: undefined, proxies } });
  });

  test.each([
    { PIP_NO_INDEX: '1' },
    { PIP_TRUSTED_HOST: 'a' },
    { PIP_CERT: '/no/such/file' },
    { PIP_INDEX_URL: 'file:///srv/simple' },
    { UV_INDEX: 'https://a.example' },
  ])('nothing with %j, which only uv can do', async (env) => {
    expect(await plan(env)).toBeNull();
  });
});
