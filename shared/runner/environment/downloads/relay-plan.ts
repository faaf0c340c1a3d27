import { readFile } from 'node:fs/promises';
import type { EnvironmentBuild } from '../install/builder-input.ts';
import type { UpstreamSettings } from './upstream.ts';

/** The indexes that an installer would ask, the main one first, and how they are reached. */
export interface RelayPlan {
  indexes: [string, ...string[]];
  upstream: UpstreamSettings;
}

const usualIndex = 'https://pypi.org/simple';

/** What the relay cannot do in the place of an installer. Then the installer asks its indexes itself. */
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

const words = (text: string | undefined): string[] => text?.split(/\s+/).filter((word) => word !== '') ?? [];

/** pip's settings from its files: `global.index-url='…'`, one a line. */
function parsePipConfig(text: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const line of text.split('\n')) {
    const [, section, name = '', value = ''] = /^(global|install)\.([a-z-]+)='(.*)'$/.exec(line.trim()) ?? [];
    if (section !== undefined) found.set(name, value.replaceAll(String.raw`\n`, '\n'));
  }
  return found;
}

async function pipConfig({ run, packages, env }: EnvironmentBuild, python: string) {
  const listed = await run({ argv: [python, '-I', '-m', 'pip', 'config', 'list'], cwd: packages, env });
  return listed.exitCode === 0 ? parsePipConfig(listed.tail) : null;
}

/**
 * What to relay in the place of the indexes that pip or uv would ask, by the options of the project, the environment of
 * the installer and pip's own files; null where they hold something that a relay cannot do.
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
    dependencies.flatMap((one) => (one.kind === 'option' && one.name === wanted ? [one.value] : []));
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
