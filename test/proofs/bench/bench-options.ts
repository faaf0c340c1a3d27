import { resolve } from 'node:path';
import { CommandError } from '../../../infra/command/command-error.ts';
import { readFlags } from '../../../infra/command/read-flags.ts';
import { givenPath } from '../../../shared/bundle/given-path.ts';

export interface BenchOptions {
  /** Absolute path of the file for the figures. */
  json: string;
  /** Names of the groups to measure; undefined for all. */
  only: readonly string[] | undefined;
  withDemo: boolean;
  withMlflow: boolean;
  withFasttrackml: boolean;
  /** A tenth of the records, where a group takes long to make them. */
  small: boolean;
  /** Only what counts, and end with 1 if a bound is missed. */
  isShort: boolean;
  /** Write the figures into the table of the repository. */
  withTable: boolean;
  /** Absolute path of the demo's data folder. */
  demoFolder: string;
}

const usage = (
  names: readonly string[],
) => `Usage: npm run proof -- bench [--only <group>,…] [--json <file>] [--with-demo] [--demo-data <folder>]
         [--with-mlflow] [--with-fasttrackml] [--small] [--short] [--table]
  --only       measure only these groups, separated by commas: ${names.join(', ')}
  --json       where the figures go (.data/bench.json)
  --with-demo  build the environment of the demo where it is not there yet, from the package index
  --with-mlflow  measure MLflow's own server beside the service, from the package index (500 MB), also on PostgreSQL
                 where its programs are on the path
  --small      a tenth of the runs and points of tracking, and of the jobs and projects of queue and growth
  --short      only what counts and does not depend on the machine; ends with 1 if a bound is missed
  --table      write the figures into test/proofs/bench/figures.md, from the root of the repository
  --with-fasttrackml  measure FastTrackML beside the service, from the package index
  --demo-data  data folder of the demo (.data/demo)`;

const options = {
  only: { type: 'string', multiple: true },
  json: { type: 'string' },
  'with-demo': { type: 'boolean', default: false },
  'with-mlflow': { type: 'boolean', default: false },
  'with-fasttrackml': { type: 'boolean', default: false },
  small: { type: 'boolean', default: false },
  short: { type: 'boolean', default: false },
  table: { type: 'boolean', default: false },
  'demo-data': { type: 'string' },
} as const;

/** @throws CommandError for what the bench does not know */
export function readOptions(args: readonly string[], names: readonly string[]): BenchOptions {
  const { values } = readFlags(usage(names), { args: [...args], options });
  const only = values.only?.flatMap((list) => list.split(','));
  const unknown = only?.find((name) => !names.includes(name));
  if (unknown !== undefined) throw new CommandError(`There is no group "${unknown}".\n${usage(names)}`);
  const demoData = values['demo-data'];
  return {
    json: values.json === undefined ? resolve('.data/bench.json') : givenPath(values.json),
    only,
    withDemo: values['with-demo'],
    withMlflow: values['with-mlflow'],
    withFasttrackml: values['with-fasttrackml'],
    small: values.small,
    isShort: values.short,
    withTable: values.table,
    demoFolder: demoData === undefined ? resolve('.data/demo') : givenPath(demoData),
  };
}
