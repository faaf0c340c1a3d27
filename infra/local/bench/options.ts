import { resolve } from 'node:path';
import { parseArgs } from 'node:util';

export interface BenchOptions {
  /** Absolute path of the file for the figures. */
  json: string;
  /** Names of the groups to measure; undefined for all. */
  only: readonly string[] | undefined;
  withDemo: boolean;
  /** Absolute path of the demo's data folder. */
  demoFolder: string;
}

/** Something is wrong that whoever runs the bench can put right. */
export class BenchError extends Error {
  override readonly name = 'BenchError';
}

const usage = (
  names: readonly string[],
) => `Usage: npm run bench -- [--only <group>]… [--json <file>] [--with-demo] [--demo-data <folder>]
  --only       measure only this group: ${names.join(', ')}
  --json       where the figures go (.data/bench.json)
  --with-demo  build the environment of the demo where it is not there yet, from the package index
  --demo-data  data folder of the demo (.data/demo)`;

function parseFlags(args: readonly string[], names: readonly string[]) {
  const options = {
    only: { type: 'string', multiple: true },
    json: { type: 'string', default: '.data/bench.json' },
    'with-demo': { type: 'boolean', default: false },
    'demo-data': { type: 'string', default: '.data/demo' },
  } as const;
  try {
    return parseArgs({ args: [...args], options }).values;
  } catch (error) {
    throw new BenchError(`${error instanceof Error ? error.message : String(error)}\n${usage(names)}`);
  }
}

/** @throws BenchError for what the bench does not know */
export function readOptions(args: readonly string[], names: readonly string[]): BenchOptions {
  const values = parseFlags(args, names);
  const unknown = values.only?.find((name) => !names.includes(name));
  if (unknown !== undefined) throw new BenchError(`There is no group "${unknown}".\n${usage(names)}`);
  return {
    json: resolve(values.json),
    only: values.only,
    withDemo: values['with-demo'],
    demoFolder: resolve(values['demo-data']),
  };
}
