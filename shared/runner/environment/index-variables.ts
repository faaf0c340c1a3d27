import { packageIndexFault } from '../../core/package-index-fault.ts';
import { credentialsIn } from '../host/credentials.ts';

/**
 * The variables of a project that an installer receives. No other variable reaches a build, because it runs the
 * scripts of packages.
 */
export interface IndexVariables {
  /** Variables for the environment of the installer. */
  values: Readonly<Record<string, string>>;
  /** Same as `values`, but without users and passwords, sorted by name. They determine the found packages. */
  addresses: readonly string[];
  /** Content of a `.netrc` for the installer's home. */
  netrc: string | undefined;
  /** Whether they contain credentials. Downloads with credentials are only for this project. */
  arePrivate: boolean;
  /** Passwords and tokens. No environment may contain them. */
  credentials: readonly string[];
}

export const noIndexes: IndexVariables = {
  values: {},
  addresses: [],
  netrc: undefined,
  arePrivate: false,
  credentials: [],
};

/** Variables of a project that configure package indexes for installers. */
const indexes = [
  ...['PIP_INDEX_URL', 'PIP_EXTRA_INDEX_URL', 'PIP_FIND_LINKS', 'PIP_TRUSTED_HOST'],
  ...['UV_DEFAULT_INDEX', 'UV_INDEX', 'UV_INDEX_URL', 'UV_EXTRA_INDEX_URL', 'UV_FIND_LINKS'],
  ...['NPM_CONFIG_REGISTRY', 'npm_config_registry'],
];

const tokenName = 'NPM_TOKEN';

/** Content of a `.netrc`. pip and uv read users and passwords by host from it. */
const netrcName = 'NETRC';

const userInfo = /(?<=:\/\/)([^\s/?#]*)@/g;

/** Select the variables of a project that installers receive. */
export function indexVariables(variables: Readonly<Record<string, string>>): IndexVariables {
  const chosen = [...indexes, tokenName].flatMap((name) => {
    const value = variables[name];
    return value === undefined || value === '' ? [] : [[name, value] as const];
  });
  const netrc = variables[netrcName];
  const values = Object.fromEntries(chosen);
  const token = values[tokenName];
  const addresses = chosen.filter(([name]) => name !== tokenName);
  return {
    values,
    addresses: addresses.map(([name, value]) => `${name}=${value.replaceAll(userInfo, '')}`).sort(),
    netrc,
    arePrivate:
      netrc !== undefined ||
      token !== undefined ||
      addresses.some(([, value]) => value.search(userInfo) >= 0),
    credentials: [
      ...credentialsIn([netrc, ...addresses.map(([, value]) => value)].join('\n')),
      ...(token === undefined ? [] : [token]),
    ],
  };
}

/** Return the fault of the indexes' hosts, or null. The deployment lists the allowed hosts. */
export function indexFault({ addresses }: IndexVariables, allowed: readonly string[]): string | null {
  for (const address of addresses) {
    const [name = ''] = address.split('=', 1);
    for (const [url] of address.matchAll(/[a-z][a-z0-9+.-]*:\/\/\S+/gi)) {
      const fault = URL.canParse(url) ? packageIndexFault(url, allowed) : 'it contains an invalid URL';
      // npm's own registry is the default and always allowed.
      const isUsual = URL.canParse(url) && new URL(url).host === 'registry.npmjs.org';
      if (fault !== null && !isUsual) return `The variable ${name} cannot be used: ${fault}.`;
    }
  }
  return null;
}

/**
 * Return npm's setting that sends `NPM_TOKEN` to its registry. npm itself expands `${…}`, so the file contains no
 * secret.
 */
export function npmSettings({ values }: IndexVariables): string | undefined {
  if (values[tokenName] === undefined) return undefined;
  const registry =
    values['NPM_CONFIG_REGISTRY'] ?? values['npm_config_registry'] ?? 'https://registry.npmjs.org/';
  const [, address = ''] = /^https?:\/\/(?:[^/@]*@)?([^?#]*)/.exec(registry) ?? [];
  return `//${address.replace(/\/*$/, '/')}:_authToken=\${${tokenName}}\n`;
}
