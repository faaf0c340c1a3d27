import { readFile } from 'node:fs/promises';
import { EnvironmentError } from '../environment-error.ts';
import type { EnvironmentBuild } from '../install/builder-input.ts';
import { stopped } from '../install/installer.ts';
import { DownloadNotes } from './download-notes.ts';
import { IndexRelay, type RelayRecord, type UpstreamSettings } from './index-relay.ts';

/**
 * Install Python packages by `install`, through a relay with cached downloads if possible. `install` receives the
 * environment variables of its installer; `python` is that of `relayPlan`. Returns the record of the relay, or null if
 * none was used.
 * @throws EnvironmentError of the installer
 */
export async function installRelayed(
  build: EnvironmentBuild,
  python: string | undefined,
  install: Install,
): Promise<RelayRecord | null> {
  const plan = build.downloads === undefined ? null : await relayPlan(build, python);
  const relayed = plan === null ? null : await byRelay(build, plan, install);
  if (relayed === null) await install(build.env, undefined);
  else if ('failure' in relayed) await installDirectly(build, relayed.failure, install);
  else return relayed;
  return null;
}

/**
 * Install without the relay that could not reach an index: the installer may have a way of its own.
 * @throws EnvironmentError that begins with the relay's reason
 */
async function installDirectly({ env, log, stop }: EnvironmentBuild, failure: string, install: Install) {
  log(`environment: the cache of downloads cannot be used (${failure}); installing without it`);
  try {
    await install(env, undefined);
  } catch (error) {
    stopped(stop);
    if (!(error instanceof EnvironmentError) || error.code !== 'install-failed') throw error;
    const what = 'A package index failed during the installation';
    const advice = 'Nothing of it was kept. Start the run again when the index answers';
    throw new EnvironmentError('install-failed', `${what} (${failure}). ${advice}. ${error.message}`, error);
  }
}

/** Install with these variables, through a relay if one is given. */
type Install = (env: EnvironmentBuild['env'], relay: IndexRelay | undefined) => Promise<void>;

/** The package indexes of an installer, the main one first, and the connection settings for them. */
interface RelayPlan {
  indexes: [string, ...string[]];
  upstream: UpstreamSettings;
}

/** Settings that the relay does not support. With one of them, the installer uses its indexes directly. */
const beyond = {
  env: [
    ...[
      'PIP_NO_INDEX',
      'PIP_TRUSTED_HOST',
      'PIP_PROXY',
      'ALL_PROXY',
      'all_proxy',
      'UV_INDEX',
      'UV_CONFIG_FILE',
    ],
    ...['UV_NO_INDEX', 'UV_OFFLINE', 'UV_INSECURE_HOST', 'UV_NATIVE_TLS', 'UV_SYSTEM_CERTS'],
  ],
  pip: ['no-index', 'trusted-host', 'proxy', 'client-cert', 'keyring-provider', 'require-hashes'],
};

const usualIndex = 'https://pypi.org/simple';

/**
 * The indexes that pip or uv would use, by the options of the project, the environment of the installer and pip's own
 * files; null if one of these holds a setting that the relay does not support.
 *
 * @param python the interpreter with pip; undefined for uv, which reads no file of pip's
 */
export async function relayPlan(
  build: EnvironmentBuild,
  python: string | undefined,
): Promise<RelayPlan | null> {
  const { env, dependencies } = build;
  if (beyond.env.some((name) => env[name] !== undefined)) return null;
  const files = python === undefined ? new Map<string, string>() : await pipConfig(build, python);
  if (files === null || beyond.pip.some((name) => files.has(name))) return null;
  const options = (wanted: string) =>
    dependencies.flatMap((dependency) =>
      dependency.kind === 'option' && dependency.name === wanted ? [dependency.value] : [],
    );
  const [index = usualIndex] = [
    ...options('index-url'),
    ...words(python === undefined ? (env['UV_DEFAULT_INDEX'] ?? env['UV_INDEX_URL']) : env['PIP_INDEX_URL']),
    ...words(files.get('index-url')),
  ];
  const configured =
    python === undefined
      ? env['UV_EXTRA_INDEX_URL']
      : (env['PIP_EXTRA_INDEX_URL'] ?? files.get('extra-index-url'));
  const indexes: RelayPlan['indexes'] = [index, ...words(configured), ...options('extra-index-url')];
  if (!indexes.every((url) => /^https?:/.test(url) && URL.canParse(url))) return null;

  const bundle = ['PIP_CERT', 'REQUESTS_CA_BUNDLE', 'CURL_CA_BUNDLE', 'SSL_CERT_FILE']
    .map((name) => (name === 'PIP_CERT' ? (env[name] ?? files.get('cert')) : env[name]))
    .find((path) => path !== undefined);
  const ca = bundle === undefined ? undefined : await readFile(bundle, 'utf8').catch(() => null);
  if (ca === null) return null;
  const proxies = Object.fromEntries(
    Object.entries(env).filter(([name]) => /^(?:https?_proxy|no_proxy)$/i.test(name)),
  );
  return { indexes, upstream: { ca, proxies } };
}

async function pipConfig({ probe, packages, env }: EnvironmentBuild, python: string) {
  const listed = await probe({ argv: [python, '-I', '-m', 'pip', 'config', 'list'], cwd: packages, env });
  return listed.exitCode === 0 ? parsePipConfig(listed.tail) : null;
}

/** Parse pip's settings from its files: `global.index-url='…'`, one per line. */
function parsePipConfig(text: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const line of text.split('\n')) {
    const [, section, name = '', value = ''] = /^(global|install)\.([a-z-]+)='(.*)'$/.exec(line.trim()) ?? [];
    if (section !== undefined) found.set(name, value.replaceAll(String.raw`\n`, '\n'));
  }
  return found;
}

const words = (text: string | undefined): string[] => text?.split(/\s+/).filter((word) => word !== '') ?? [];

/** Install through a relay. Returns its first failure if it could not reach an index, and null without downloads. */
async function byRelay(
  { downloads, env, log, stop }: EnvironmentBuild,
  { indexes, upstream }: RelayPlan,
  install: Install,
): Promise<RelayRecord | { failure: string } | null> {
  if (downloads === undefined) return null;
  const relay = new IndexRelay(indexes, downloads, upstream);
  const notes = new DownloadNotes(relay, log);
  try {
    await install(relayedEnvironment(env, await relay.start()), relay);
    const { cached, fetched, cachedBytes } = relay.counts;
    const size = `${(cachedBytes / 1e6).toFixed(1)} MB`;
    const all = cached + fetched;
    if (all > 0) log(`environment: ${cached} of ${all} downloads (${size}) were in the cache`);
    return relay.record;
  } catch (error) {
    stopped(stop);
    if (!(error instanceof EnvironmentError) || relay.failure === undefined) throw error;
    return { failure: relay.failure };
  } finally {
    notes.stop();
    await relay.close();
  }
}

const loopback = '127.0.0.1';

/** Return the environment variables of an installer that uses the relay. */
function relayedEnvironment(
  env: EnvironmentBuild['env'],
  [index = '', ...extra]: readonly string[],
): Record<string, string> {
  const { UV_INDEX_URL: _, ...others } = env;
  const direct = [env['NO_PROXY'] ?? env['no_proxy'], loopback].filter(Boolean).join(',');
  const further = extra.join(' ');
  return {
    ...others,
    PIP_INDEX_URL: index,
    UV_DEFAULT_INDEX: index,
    ...(further !== '' && { PIP_EXTRA_INDEX_URL: further, UV_EXTRA_INDEX_URL: further }),
    NO_PROXY: direct,
    no_proxy: direct,
  };
}
