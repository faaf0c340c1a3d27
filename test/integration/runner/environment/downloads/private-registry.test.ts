import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { DownloadCache } from '../../../../../shared/runner/environment/downloads/download-cache.ts';
import { IndexRelay } from '../../../../../shared/runner/environment/downloads/index-relay.ts';
import { relayPlan } from '../../../../../shared/runner/environment/downloads/with-relay.ts';
import { prepareEnvironment } from '../../../../../shared/runner/environment/prepare-environment.ts';
import { sha256Of } from '../../../../support/package-index.ts';
import { startPrivateRegistry, startProxy } from '../../../../support/private-registry.ts';
import { type EnvironmentFixture, makeFixture, options, removeFixture } from '../environment-fixture.ts';
import { writeNpmPackage, writeWheel } from '../packages.ts';

let fixture: EnvironmentFixture;
beforeEach(async () => {
  fixture = await makeFixture();
});
afterEach(() => removeFixture(fixture));

describe('the relay of package indexes', () => {
  /** What it makes of the operator's settings, as for uv; it runs no installer. */
  async function relayed(indexUrl: string, env: Record<string, string>) {
    const dependencies = [{ kind: 'option', name: 'index-url', value: indexUrl }] as const;
    const plan = await relayPlan({ env, dependencies });
    if (plan === null) throw new Error('there is no plan');
    const relay = new IndexRelay(
      plan.indexes,
      new DownloadCache(join(fixture.folder, 'downloads'), undefined),
      plan.upstream,
      'a'.repeat(32),
    );
    const [url = ''] = await relay.start();
    return { relay, url };
  }

  test('trusts the certificate and takes the proxy that the operator configured, and no other', async () => {
    const name = 'tiny-1.0-py3-none-any.whl';
    await writeWheel(join(fixture.folder, name), '1.0');
    const wheel = await readFile(join(fixture.folder, name));
    const serve: RequestListener = ({ url }, response) => {
      if (url === `/files/${name}`) response.end(wheel);
      else response.end(`<a href="/files/${name}#sha256=${sha256Of(wheel)}">${name}</a>`);
    };
    const { url: origin, caFile } = await startPrivateRegistry(fixture.folder, serve);
    const proxy = await startProxy();
    const index = `${origin}/simple/`;

    const { relay, url } = await relayed(index, { SSL_CERT_FILE: caFile, https_proxy: proxy.url });
    const page = await (await fetch(`${url}tiny/`)).text();
    const [, href = ''] = /href="([^"]*)"/.exec(page) ?? [];
    const file = Buffer.from(await (await fetch(new URL(href, url))).arrayBuffer());
    await relay.close();
    expect(file.equals(wheel)).toBe(true);
    expect(new Set(proxy.tunnels)).toEqual(new Set([new URL(origin).host]));

    const stranger = await relayed(index, {});
    expect((await fetch(`${stranger.url}tiny/`)).status).toBe(502);
    expect(stranger.relay.failure).toContain('certificate');
    await stranger.relay.close();
  });
});

describe('npm', () => {
  test('trusts the certificate and takes the proxy that the operator configured', async () => {
    await writeNpmPackage(join(fixture.folder, 'tiny.tgz'));
    const archive = await readFile(join(fixture.folder, 'tiny.tgz'));
    const integrity = `sha512-${createHash('sha512').update(archive).digest('base64')}`;
    let origin = '';
    const registry = await startPrivateRegistry(fixture.folder, ({ url }, response) => {
      if (url !== '/tiny') return void response.end(archive);
      const dist = { tarball: `${origin}/tiny.tgz`, integrity };
      const versions = { '1.2.3': { name: 'tiny', version: '1.2.3', dist } };
      response.end(JSON.stringify({ name: 'tiny', 'dist-tags': { latest: '1.2.3' }, versions }));
    });
    origin = registry.url;
    const proxy = await startProxy();
    const spec = { env_type: 'node', dependencies: 'tiny' } as const;
    const { npm_config_offline: _, ...environment } = options(fixture, spec).operatorEnv;
    const operatorEnv = {
      ...environment,
      npm_config_registry: origin,
      NODE_EXTRA_CA_CERTS: registry.caFile,
      https_proxy: proxy.url,
    };
    const built = await prepareEnvironment(options(fixture, spec, { operatorEnv }));
    const module = await readFile(join(built.nodeModules ?? '', 'tiny/index.js'), 'utf8');
    expect(module).toContain('answer = 42');
    expect(new Set(proxy.tunnels)).toEqual(new Set([new URL(origin).host]));
  });
});
