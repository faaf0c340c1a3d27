export type Variables = Readonly<Record<string, string | undefined>>;

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
  ...['PIP_CONFIG_FILE', 'PIP_INDEX_URL', 'PIP_EXTRA_INDEX_URL', 'PIP_NO_INDEX', 'PIP_FIND_LINKS'],
  ...['PIP_TRUSTED_HOST', 'PIP_CERT', 'PIP_PROXY', 'PIP_DEFAULT_TIMEOUT', 'PIP_RETRIES', 'PIP_ONLY_BINARY'],
  ...['UV_CONFIG_FILE', 'UV_DEFAULT_INDEX', 'UV_INDEX', 'UV_INDEX_URL', 'UV_EXTRA_INDEX_URL', 'UV_NO_INDEX'],
  ...[
    'UV_FIND_LINKS',
    'UV_INSECURE_HOST',
    'UV_OFFLINE',
    'UV_HTTP_TIMEOUT',
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

/** uv ignores pip's settings. These are its equivalents; settings for uv itself take precedence. */
const uvNames: Readonly<Record<string, string>> = {
  PIP_INDEX_URL: 'UV_DEFAULT_INDEX',
  PIP_EXTRA_INDEX_URL: 'UV_EXTRA_INDEX_URL',
  PIP_NO_INDEX: 'UV_NO_INDEX',
  PIP_FIND_LINKS: 'UV_FIND_LINKS',
  PIP_TRUSTED_HOST: 'UV_INSECURE_HOST',
  PIP_CERT: 'SSL_CERT_FILE',
};

/**
 * Build the whole environment of an installer process: the passed settings, and a scratch folder for all its
 * files.
 */
export function installerEnvironment(operator: Variables, scratch: string): Record<string, string> {
  const settings = installerSettings(operator);
  const translated = Object.entries(settings).flatMap(([name, value]) => {
    const forUv = uvNames[name];
    return forUv === undefined ? [] : [[forUv, value] as const];
  });
  return {
    ...Object.fromEntries(translated),
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
