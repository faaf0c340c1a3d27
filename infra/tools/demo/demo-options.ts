import { resolve } from 'node:path';
import { givenPath } from '../../../shared/bundle/given-path.ts';
import { CommandError } from '../../command/command-error.ts';
import { readFlags } from '../../command/read-flags.ts';

export interface DemoOptions {
  /**
   * A running service. Without an address, use the one that `mps` uses; without credentials, use the login of
   * `mps`. Undefined to start a service for the demo.
   */
  service: { url: string | undefined; credentials: Credentials | undefined } | undefined;
  /** Whether to train on two nodes. */
  isRemote: boolean;
  /** Number of invented experiments to record instead of training; undefined to train. */
  many: number | undefined;
  /** Absolute path of the folder for the service's data and the demo's results. */
  dataFolder: string;
}

/** An existing token, or name and password. */
export type Credentials = { token: string } | { username: string; password: string };

const usage = `Usage: npm run demo -- [--remote | --many [--count <number>]] [--data <folder>] [--url <url>]
  --remote  train on two nodes
  --many    instead of training, record invented experiments with curves; without --data, in the service that mps uses
  --count   number of invented experiments (default 10,000)
  --data    start a service with its data and the demo's results in this folder (default without --many: .data/demo)
  --url     use this running service, with the login of mps, DEMO_TOKEN, or DEMO_USERNAME and DEMO_PASSWORD`;

const options = {
  url: { type: 'string' },
  remote: { type: 'boolean' },
  many: { type: 'boolean' },
  count: { type: 'string' },
  data: { type: 'string' },
} as const;

/** @throws CommandError for an unknown or invalid option */
export function readDemoOptions(
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): DemoOptions {
  const {
    url,
    remote = false,
    many = false,
    count,
    data,
  } = readFlags(usage, {
    args: [...args],
    options,
  }).values;
  if (data === '') throw new CommandError(`--data must name a folder.\n${usage}`);
  const isRunning = url !== undefined || (many && data === undefined);
  return {
    service: isRunning
      ? {
          url: url === undefined ? undefined : serviceUrl(url),
          credentials: url === undefined ? undefined : credentialsIn(environment),
        }
      : undefined,
    isRemote: remote,
    many: countOf(many, count),
    dataFolder: data === undefined ? resolve('.data/demo') : givenPath(data),
  };
}

function serviceUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url.href.replace(/\/+$/, '');
  throw new CommandError(`--url must be an http or https URL, not "${text}".\n${usage}`);
}

function credentialsIn(environment: Readonly<Record<string, string | undefined>>): Credentials | undefined {
  const { DEMO_TOKEN: token, DEMO_USERNAME: username, DEMO_PASSWORD: password } = environment;
  if (token !== undefined) return { token };
  if (username !== undefined && password !== undefined) return { username, password };
  if (username === undefined && password === undefined) return undefined;
  throw new CommandError(`Set both DEMO_USERNAME and DEMO_PASSWORD, or neither.\n${usage}`);
}

const maxMany = 100_000;

function countOf(isMany: boolean, count: string | undefined): number | undefined {
  if (!isMany) {
    if (count === undefined) return undefined;
    throw new CommandError(`--count is for --many.\n${usage}`);
  }
  const number = Number(count ?? 10_000);
  if (Number.isInteger(number) && number >= 1 && number <= maxMany) return number;
  throw new CommandError(`--count must be a number from 1 to ${maxMany}, not "${count}".\n${usage}`);
}
