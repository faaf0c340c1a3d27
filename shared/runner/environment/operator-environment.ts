import { existsSync } from 'node:fs';

export type Variables = Readonly<Record<string, string | undefined>>;

/** The variables of uv that mean the same as one of pip. uv ignores pip's; its own take precedence. */
export const uvSettings: Readonly<Record<string, (value: string) => Record<string, string>>> = {
  PIP_INDEX_URL: (value) => ({ UV_INDEX_URL: value.trim() }),
  // pip takes the best version of all indexes. uv takes the first index that has the package, unless it is told.
  PIP_EXTRA_INDEX_URL: (value) => ({
    UV_EXTRA_INDEX_URL: words(value).join(' '),
    UV_INDEX_STRATEGY: 'unsafe-best-match',
  }),
  PIP_NO_INDEX: (value) => ({ UV_NO_INDEX: value }),
  // pip passes over a folder that is not there.
  PIP_FIND_LINKS: (value) => ({
    UV_FIND_LINKS: words(value)
      .filter((place) => !place.startsWith('/') || existsSync(place))
      .join(','),
  }),
  PIP_TRUSTED_HOST: (value) => ({ UV_INSECURE_HOST: words(value).join(' ') }),
  PIP_CERT: (value) => ({ SSL_CERT_FILE: value }),
  PIP_PROXY: (value) => ({ HTTP_PROXY: value, HTTPS_PROXY: value }),
  PIP_DEFAULT_TIMEOUT: (value) => ({ UV_HTTP_TIMEOUT: value }),
  PIP_TIMEOUT: (value) => ({ UV_HTTP_TIMEOUT: value }),
  PIP_RETRIES: (value) => ({ UV_HTTP_RETRIES: value }),
  PIP_ONLY_BINARY: (value): Record<string, string> =>
    value.includes(':all:') ? { UV_NO_BUILD: '1' } : { UV_NO_BUILD_PACKAGE: value.replaceAll(',', ' ') },
};

/** Split a setting with several values. */
export const words = (text = ''): readonly string[] => text.match(/\S+/g) ?? [];

/** Select the operator's settings that installers receive. */
export function installerSettings(operator: Variables): Record<string, string> {
  return Object.fromEntries(
    Object.entries(operator).flatMap(([name, value]) =>
      passed.has(name) && value !== undefined && value !== '' ? [[name, value] as const] : [],
    ),
  );
}

/**
 * Operator variables that an installer needs to reach a registry: index, proxy and certificates. It is an
 * allowlist, so no credential of the service can pass. Build scripts can see a password in an index URL.
 */
const passed = new Set([
  ...[
    'HTTP_PROXY',
    'HTTPS_PROXY',
    'ALL_PROXY',
    'NO_PROXY',
    'http_proxy',
    'https_proxy',
    'all_proxy',
    'no_proxy',
  ],
  ...['SSL_CERT_FILE', 'SSL_CERT_DIR', 'REQUESTS_CA_BUNDLE', 'CURL_CA_BUNDLE', 'NODE_EXTRA_CA_CERTS'],
  ...['PIP_CONFIG_FILE', ...Object.keys(uvSettings)],
  ...['UV_CONFIG_FILE', 'UV_DEFAULT_INDEX', 'UV_INDEX', 'UV_INDEX_URL', 'UV_EXTRA_INDEX_URL', 'UV_NO_INDEX'],
  ...[
    'UV_FIND_LINKS',
    'UV_INSECURE_HOST',
    'UV_OFFLINE',
    'UV_HTTP_TIMEOUT',
    'UV_HTTP_RETRIES',
    'UV_INDEX_STRATEGY',
    'UV_NATIVE_TLS',
    'UV_PYTHON_DOWNLOADS',
    'UV_PYTHON_DOWNLOADS_JSON_URL',
    'UV_PYTHON_INSTALL_MIRROR',
    'UV_SYSTEM_CERTS',
  ],
  ...['userconfig', 'globalconfig', 'registry', 'proxy', 'https_proxy', 'noproxy', 'cafile', 'strict_ssl']
    .concat(['offline', 'prefer_offline', 'fetch_retries', 'fetch_timeout', 'nodedir'])
    .flatMap((name) => [`npm_config_${name}`, `NPM_CONFIG_${name.toUpperCase()}`]),
]);

/** Variables of pip and uv that say the same. */
const synonyms: readonly (readonly string[])[] = [
  ['PIP_INDEX_URL', 'UV_DEFAULT_INDEX', 'UV_INDEX_URL'],
  ['PIP_EXTRA_INDEX_URL', 'UV_EXTRA_INDEX_URL'],
  ['PIP_FIND_LINKS', 'UV_FIND_LINKS'],
];

/** Add the variables of a project to the operator's, which say nothing any more of what the project says, by whatever name. */
export function withProjectIndexes(operator: Variables, ofProject: Variables): Variables {
  const replaced = synonyms.filter((names) => names.some((name) => (ofProject[name] ?? '') !== '')).flat();
  const kept = Object.entries(operator).filter(([name]) => !replaced.includes(name));
  return { ...Object.fromEntries(kept), ...ofProject };
}

/** uv reads only `SSL_CERT_FILE`. */
const certificates = ['REQUESTS_CA_BUNDLE', 'CURL_CA_BUNDLE'];

/**
 * Build the whole environment of an installer process: the passed settings, and a scratch folder for all its
 * files.
 */
export function installerEnvironment(operator: Variables, scratch: string): Record<string, string> {
  const settings = installerSettings(operator);
  const bundle = certificates.map((name) => settings[name]).find((value) => value !== undefined);
  return {
    ...(bundle !== undefined && { SSL_CERT_FILE: bundle }),
    ...Object.assign({}, ...Object.entries(settings).map(([name, value]) => uvSettings[name]?.(value))),
    ...settings,
    PATH: searchPath(operator),
    HOME: scratch,
    TMPDIR: `${scratch}/tmp`,
    XDG_CACHE_HOME: `${scratch}/cache`,
    PIP_CACHE_DIR: `${scratch}/cache/pip`,
    UV_CACHE_DIR: `${scratch}/cache/uv`,
    npm_config_cache: `${scratch}/cache/npm`,
    LANG: 'C.UTF-8',
    NO_COLOR: '1',
  };
}

/** Return the operator's PATH without relative entries. Those would search in folders that others can write to. */
export function searchPath(operator: Variables): string {
  const folders = (operator['PATH'] ?? '').split(':').filter((folder) => folder.startsWith('/'));
  return folders.length === 0 ? '/usr/local/bin:/usr/bin:/bin' : folders.join(':');
}

const engineNames = [
  'HOME',
  'DOCKER_HOST',
  'DOCKER_CONTEXT',
  'DOCKER_CONFIG',
  'DOCKER_TLS_VERIFY',
  'DOCKER_CERT_PATH',
];

/** Build the environment of the container engine's client. The client runs with the operator's rights. */
export function engineEnvironment(operator: Variables): Record<string, string> {
  const settings = [...engineNames, 'XDG_RUNTIME_DIR', 'HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY'].flatMap(
    (name) => {
      const value = operator[name];
      return value === undefined ? [] : [[name, value] as const];
    },
  );
  return { ...Object.fromEntries(settings), PATH: searchPath(operator), LANG: 'C.UTF-8' };
}

/** Mask user and password of every URL in a text: `https://user:pass@host` becomes `https://***@host`. */
export function maskCredentials(text: string): string {
  return text.replaceAll(/:\/\/[^\s/?#]*@/g, '://***@');
}
