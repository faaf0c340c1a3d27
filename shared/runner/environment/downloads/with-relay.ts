import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { EnvironmentBuild } from '../install/builder-input.ts';
import { words } from '../operator-environment.ts';
import { IndexRelay, type UpstreamSettings } from './index-relay.ts';

/**
 * Let the service install wheels with downloads of the bucket, through a relay of the indexes, if the bucket keeps any and
 * the relay can be used. `install` receives the variables of uv, and whether they name the relay.
 */
export async function withRelay<T>(
  build: EnvironmentBuild,
  install: (env: EnvironmentBuild['env'], isRelayed: boolean) => Promise<T>,
): Promise<T> {
  const { downloads, service, log, host } = build;
  const plan = downloads === undefined ? null : await relayPlan({ ...build, env: service.env });
  if (downloads === undefined || plan === null) return install(service.env, false);
  const relay = new IndexRelay(plan.indexes, downloads, plan.upstream, await secretOf(host));
  try {
    const result = await install(relayedEnvironment(service.env, await relay.start()), true);
    const { cached, fetched, cachedBytes } = relay.counts;
    const size = `${(cachedBytes / 1e6).toFixed(1)} MB`;
    const all = cached + fetched;
    if (all > 0) log(`environment: ${cached} of ${all} downloads (${size}) were in the cache`);
    if (relay.failure !== undefined) log(`environment: a package index failed (${relay.failure})`);
    return result;
  } finally {
    await relay.close();
  }
}

/** The secret path of the relays of this host: uv knows again by its URL what came from an index. */
async function secretOf(host: string): Promise<string> {
  const file = join(host, 'relay');
  const secret = randomBytes(16).toString('hex');
  return writeFile(file, secret, { flag: 'wx', mode: 0o600 }).then(
    () => secret,
    () => readFile(file, 'utf8'),
  );
}

/** The package indexes of an installer, the main one first, and the connection settings for them. */
interface RelayPlan {
  indexes: [string, ...string[]];
  upstream: UpstreamSettings;
}

/** Settings that the relay does not support. With one of them, uv uses its indexes directly. */
const beyond = [
  ...['UV_NO_INDEX', 'UV_OFFLINE', 'UV_INDEX', 'UV_CONFIG_FILE', 'UV_INSECURE_HOST', 'UV_NATIVE_TLS'],
  ...['UV_SYSTEM_CERTS', 'ALL_PROXY', 'all_proxy'],
];

const usualIndex = 'https://pypi.org/simple';

/**
 * The indexes that uv would use, by the options of the project and the environment of the installer; null if one of these
 * holds a setting that the relay does not support.
 */
export async function relayPlan({
  env,
  dependencies,
}: Pick<EnvironmentBuild, 'env' | 'dependencies'>): Promise<RelayPlan | null> {
  if (beyond.some((name) => env[name] !== undefined)) return null;
  const options = (wanted: string) =>
    dependencies.flatMap((dependency) =>
      dependency.kind === 'option' && dependency.name === wanted ? [dependency.value] : [],
    );
  const [index = usualIndex] = [
    ...options('index-url'),
    ...words(env['UV_DEFAULT_INDEX'] ?? env['UV_INDEX_URL']),
  ];
  const further = [...words(env['UV_EXTRA_INDEX_URL']), ...options('extra-index-url')];
  const indexes: RelayPlan['indexes'] = [index, ...further];
  if (!indexes.every((url) => /^https?:/.test(url) && URL.canParse(url))) return null;
  const bundle = env['SSL_CERT_FILE'];
  const ca = bundle === undefined ? undefined : await readFile(bundle, 'utf8').catch(() => null);
  if (ca === null) return null;
  const proxies = Object.fromEntries(
    Object.entries(env).filter(([name]) => /^(?:https?_proxy|no_proxy)$/i.test(name)),
  );
  return { indexes, upstream: { ca, proxies } };
}

const loopback = '127.0.0.1';

/** Return the environment variables of an installer that uses the relay. */
function relayedEnvironment(
  env: EnvironmentBuild['env'],
  [index = '', ...extra]: readonly string[],
): Record<string, string> {
  const { UV_INDEX_URL: _, UV_EXTRA_INDEX_URL: _1, ...others } = env;
  const direct = [env['NO_PROXY'] ?? env['no_proxy'], loopback].filter(Boolean).join(',');
  return {
    ...others,
    UV_DEFAULT_INDEX: index,
    ...(extra.length > 0 && { UV_EXTRA_INDEX_URL: extra.join(' '), UV_INDEX_STRATEGY: 'unsafe-best-match' }),
    NO_PROXY: direct,
    no_proxy: direct,
  };
}
