import type { Capacity } from '../../shared/core/capacity/capacity.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import { daySeconds } from '../login/sign-in.ts';
import { parseOverride } from '../run/override-config.ts';
import { ruleFlag } from '../run/rule-flag.ts';
import { datasetNames, projectNames } from './live-names.ts';

/** A flag whose value `parse` reads. It throws an Error that Stricli reports. */
export const parsed = <T>(parse: (text: string) => T, placeholder: string, brief: string) =>
  ({ kind: 'parsed', parse, placeholder, brief, optional: true }) as const;

/** A flag that may be repeated. */
export const repeated = <T>(parse: (text: string) => T, placeholder: string, brief: string) =>
  ({ ...parsed(parse, placeholder, brief), variadic: true }) as const;

/** A flag with any text. */
export const text = (placeholder: string, brief: string) => parsed(String, placeholder, brief);

function number(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value)) throw new Error('must be a number');
  return value;
}

const size = (brief: string) => parsed(number, 'N', brief);

/** Return the capacity that `--spot`, `--spot=only` or `--spot=never` means. */
function capacityOf(text: string): Capacity {
  const found = { first: 'spot-then-on-demand', only: 'spot', never: 'on-demand' } as const;
  if (Object.hasOwn(found, text)) return found[text as keyof typeof found];
  throw new Error('must be --spot, --spot=only or --spot=never');
}

/** Parse a period; return seconds. @throws Error that Stricli reports */
function seconds(text: string): number {
  const [, count = '', unit = ''] = /^(\d{1,6})([mhd])$/.exec(text) ?? [];
  const found = Number(count) * ({ m: 60, h: 3600, d: daySeconds }[unit] ?? 0);
  if (found >= 60 && found <= 365 * daySeconds) return found;
  throw new Error('must be from 1m to 365d, such as 30m, 8h or 7d');
}

/** A period of a minute to a year. */
export const period = { kind: 'parsed', parse: seconds, placeholder: 'TIME', optional: true } as const;

export const sizes = {
  nodes: size('Number of nodes; 2 or more form a cluster'),
  gpus: size('GPUs of each node'),
  vcpus: size('vCPUs of each node'),
  memory: size('Memory of each node in MiB'),
  timeout: size('Seconds after which the command is stopped'),
  spot: parsed(
    capacityOf,
    'only|never',
    'Two attempts on Spot, then on demand; --spot=only never goes on demand, --spot=never never on Spot',
  ),
  dataset: {
    ...text(
      'NAME',
      `Data set to provide at DATA_DIR (default: that of the project's previous training; "" for none)`,
    ),
    proposeCompletions: datasetNames,
  },
} as const;

/** A flag that is given or not. */
export const choice = (brief: string) =>
  ({ kind: 'boolean', brief, optional: true, withNegated: false }) as const;

/** Values of the flags that commands about a project share. */
export interface ProjectFlags {
  project?: string;
  json?: boolean;
}

/** Return the flags that were set: Stricli also passes the others, as undefined. */
export const flagsSet = <T extends object>(flags: T): Partial<T> =>
  Object.fromEntries(Object.entries(flags).filter(([, value]) => value !== undefined)) as Partial<T>;

/** Flags that several commands share. */
export const verbose = choice('Show request IDs and stack traces');

export const json = choice('Print JSON for scripts');

export const detach = choice('Exit after the submission');

export const yes = choice('Do not ask');

export const uploadYes = { ...yes, brief: 'Skip the question before a large upload' } as const;

export const force = choice('Replace existing files');

export const project = {
  ...text('NAME|ID', "Name or ID of the project (default: from mps.yaml, else the folder's name)"),
  proposeCompletions: projectNames,
} as const;

/** Folder that is sent. */
export const root = text(
  'FOLDER',
  'Send the folder above that this names, such as ".."; the command still runs in the present folder (default: send the present folder alone)',
);

/** Budget of one training. */
export const runBudget = parsed(
  number,
  'US$',
  'US$ that the training may cost; then it saves its checkpoints and ends',
);

/** What a user says about a training. */
export const tracked = {
  name: text(
    'NAME',
    'Name of the experiment (default: name of the configuration and a number, such as train-2)',
  ),
  tag: repeated(parseTag, 'NAME=VALUE', 'Tag of the experiment, such as stage=baseline; may be repeated'),
  note: text('TEXT', 'Note of the experiment, in Markdown'),
} as const;

interface TrackedFlags {
  name?: string | undefined;
  tag?: readonly (readonly [string, string])[] | undefined;
  note?: string | undefined;
}

/** Return the query parameters of these flags. @throws CliError for one tag with two values */
export function trackedQuery({ name, tag = [], note }: TrackedFlags) {
  const tags = Object.fromEntries(tag);
  const twice = tag.find(([key, value]) => tags[key] !== value);
  if (twice !== undefined) throw new CliError(`--tag gives ${twice[0]} two values.`, exitCodes.usage);
  return {
    ...(name !== undefined && { name }),
    ...(note !== undefined && { note }),
    ...(tag.length > 0 && { tags: JSON.stringify(tags) }),
  };
}

function parseTag(text: string): readonly [string, string] {
  const at = text.indexOf('=');
  if (at < 1) throw new Error('must be a name and a value, such as stage=baseline');
  return [text.slice(0, at), text.slice(at + 1)];
}

/** Rules of one training. */
export const rules = {
  stopIf: repeated(
    ruleFlag('stop'),
    'RULE',
    'Stop the training when a rule is met, such as "nan: loss"; may be repeated',
  ),
  notifyIf: repeated(
    ruleFlag('notify'),
    'RULE',
    'Tell the hooks of the project when a rule is met; may be repeated',
  ),
} as const;

export const overrides = repeated(
  parseOverride,
  'NAME=VALUE',
  'Set a value of the configuration, such as optimizer.lr=0.01, or a flag, such as --lr=0.01; may be repeated',
);

export const gate = choice(`End with ${exitCodes.gate} if the result is useless on the model's data set`);
