import { resolve } from 'node:path';
import { groupRules } from '../../../shared/accounts/oidc/group-rules.ts';
import { givenPath } from '../../../shared/bundle/given-path.ts';
import { readCorsOrigins } from '../../../shared/core/cors-origins.ts';
import { readSettings, settingNames } from '../../../shared/core/settings.ts';
import { hostFault, hostVariable } from '../../../shared/host/this-host.ts';
import { CommandError } from '../../command/command-error.ts';
import { readFlags } from '../../command/read-flags.ts';
import type { AdmissionLimits } from '../gateway/admission.ts';
import { readDataLimit } from './data-size.ts';
import { bucket, recordsTable } from './function-environment.ts';
import { localPrices, localSpotSeconds, priceVariable, spotVariable } from './local-prices.ts';
import { type Reach, reachUsage, readReach } from './reach.ts';

/**
 * Refuse settings at the start that functions and jobs would refuse at every request and run.
 * @throws CommandError naming each variable that is invalid, or that names an unknown limit or host
 */
export function checkSettings(environment: Readonly<Record<string, string | undefined>>): void {
  const limits = [...settingNames(), ...gatewayVariables].filter((name) => name.startsWith('LIMIT_'));
  const unknown = Object.keys(environment).filter(
    (name) => name.startsWith('LIMIT_') && !limits.includes(name),
  );
  if (unknown.length > 0) {
    throw new CommandError(`There is no ${unknown.join(', ')}. Limits are: ${limits.join(', ')}.`);
  }
  const wrongHost = hostFault(environment[hostVariable]);
  if (wrongHost !== undefined) throw new CommandError(wrongHost);
  const { REGISTRATION, LOG_LEVEL, SHARED_CLUSTER, PACKAGE_INDEXES, HOOK_HOSTS, ISSUER_HOSTS } = environment;
  const oidc = Object.fromEntries(oidcVariables.map((name) => [name, environment[name]]));
  const given = Object.fromEntries(limits.map((name) => [name, environment[name]]));
  const price = environment[priceVariable];
  const spot = environment[spotVariable];
  try {
    if (price !== undefined) localPrices(price);
    if (spot !== undefined) localSpotSeconds(spot);
    const groups = groupRules(environment[oidcFlags['oidc-groups']] ?? '*=guest');
    if (typeof groups === 'string') throw new Error(`${oidcFlags['oidc-groups']} ${groups}`);
    readSettings({
      ...given,
      REGISTRATION,
      LOG_LEVEL,
      SHARED_CLUSTER,
      PACKAGE_INDEXES,
      HOOK_HOSTS,
      ISSUER_HOSTS,
      ...oidc,
      RECORDS_TABLE: recordsTable,
      BUCKET: bucket,
    });
  } catch (error) {
    throw new CommandError(error instanceof Error ? `${error.message}.` : String(error));
  }
}

/** Variables of the gateway's limits. */
const variables = {
  perSecond: 'LIMIT_REQUESTS_PER_SECOND',
  burst: 'LIMIT_REQUEST_BURST',
  inFlight: 'LIMIT_REQUESTS_IN_FLIGHT',
  waiting: 'LIMIT_REQUESTS_WAITING',
  parked: 'LIMIT_REQUESTS_PARKED',
} as const satisfies Record<keyof AdmissionLimits, string>;

const bodyVariable = 'LIMIT_BODY_BYTES';

const timesVariable = 'LIMIT_ANONYMOUS_TIMES';

const gatewayVariables: readonly string[] = [...Object.values(variables), bodyVariable, timesVariable];

const usage = `Usage: npm start -- [--port <port>] [--data <folder>] [--data-limit <size>] [--host <address> --public-url <url>]
         [--s3-port <port>] [--public-s3-url <url>]
         [--oidc-issuer <url> --oidc-client-id <id> --oidc-groups <rules> --oidc-only yes]
  --port  port of the service (default 3000, or PORT); 0 for any free port
  --data  folder of its data (default .data, or DATA_DIR)
  --data-limit  size above which environments and downloads unused for longest are removed from it, such as 40GB
        (or DATA_LIMIT; by default half of what the disk has for it)
${reachUsage}
  --oidc-issuer  issuer of OpenID Connect at which people sign in (or OIDC_ISSUER)
  --oidc-client-id  client of the service there (default mps, or OIDC_CLIENT_ID; its secret, if it has one, is OIDC_CLIENT_SECRET)
  --oidc-groups  account types of groups, such as ml-admins=admin,*=viewer (default *=guest, or OIDC_GROUPS)
  --oidc-only  yes: passwords count for the first admin alone (or OIDC_ONLY)`;

/** Flags of the sign-in at an issuer, and the variables that they replace. */
const oidcFlags = {
  'oidc-issuer': 'OIDC_ISSUER',
  'oidc-client-id': 'OIDC_CLIENT_ID',
  'oidc-groups': 'OIDC_GROUPS',
  'oidc-only': 'OIDC_ONLY',
} as const;

const oidcVariables = [...Object.values(oidcFlags), 'OIDC_CLIENT_SECRET'];

const options = {
  port: { type: 'string' },
  data: { type: 'string' },
  'data-limit': { type: 'string' },
  host: { type: 'string' },
  'public-url': { type: 'string' },
  's3-port': { type: 'string' },
  'public-s3-url': { type: 'string' },
  'oidc-issuer': { type: 'string' },
  'oidc-client-id': { type: 'string' },
  'oidc-groups': { type: 'string' },
  'oidc-only': { type: 'string' },
} as const;

/** Flags override variables (`PORT`, `DATA_DIR`), which override the defaults. @throws CommandError for anything else */
export function readOptions(
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): StartOptions {
  const flags = readFlags(usage, { args: [...args], options }).values;
  const port = flags.port ?? environment['PORT'] ?? '3000';
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) {
    throw new CommandError(`--port must be a number from 0 to 65535, not "${port}".\n${usage}`);
  }
  const folder = flags.data ?? environment['DATA_DIR'] ?? '.data';
  if (folder === '') throw new CommandError(`--data must name a folder.\n${usage}`);
  const dataFolder = flags.data === undefined ? resolve(folder) : givenPath(folder);
  const dataLimit = readDataLimit(flags['data-limit'] ?? environment['DATA_LIMIT']);
  const names = Object.entries(oidcFlags) as [keyof typeof oidcFlags, string][];
  const oidc = names.flatMap(([flag, name]) => (flags[flag] === undefined ? [] : [[name, flags[flag]]]));
  const reach = readReach(flags, environment);
  return { port: Number(port), dataFolder, dataLimit, reach, variables: Object.fromEntries(oidc) };
}

interface StartOptions {
  /** 0 for any free port. */
  port: number;
  /** Absolute path of the data folder. */
  dataFolder: string;
  /** In bytes; undefined for the default. */
  dataLimit: number | undefined;
  reach: Reach;
  /** Variables of the functions that flags replace. */
  variables: Readonly<Record<string, string>>;
}

/**
 * Return the limits that are set. If only the request rate is set, the burst is twice the rate. @throws
 * CommandError
 */
export function readLimits(environment: Variables): Partial<AdmissionLimits> {
  const perSecond = readLimit(environment, variables.perSecond);
  const burst = readLimit(environment, variables.burst) ?? (perSecond && 2 * perSecond);
  const inFlight = readLimit(environment, variables.inFlight);
  const waiting = readLimit(environment, variables.waiting);
  return {
    ...(perSecond !== undefined && { perSecond }),
    ...(burst !== undefined && { burst }),
    ...(inFlight !== undefined && { inFlight }),
    ...(waiting !== undefined && { waiting }),
  };
}

type Variables = Readonly<Record<string, string | undefined>>;

function readLimit(environment: Variables, name: string): number | undefined {
  const given = environment[name];
  if (given === undefined || given === '') return undefined;
  if (/^[1-9]\d{0,8}$/.test(given)) return Number(given);
  throw new CommandError(`${name} must be a whole number from 1 to 999999999, not "${given}".`);
}

/** Return the limit on the bytes of all request bodies together, if set. @throws CommandError */
export const readBodyBytes = (environment: Variables): number | undefined =>
  readLimit(environment, bodyVariable);

/** Return the factor on the throttles of public operations, if set. @throws CommandError */
export const readAnonymousTimes = (environment: Variables): number | undefined =>
  readLimit(environment, timesVariable);

/** Return the origins of `CORS_ORIGINS`. @throws CommandError */
export function readOrigins(environment: Variables): readonly string[] {
  try {
    return readCorsOrigins(environment);
  } catch (error) {
    throw new CommandError(error instanceof Error ? `${error.message}.` : String(error));
  }
}
