import { resolve } from 'node:path';
import { givenPath } from '../../../shared/bundle/given-path.ts';
import { CommandError } from '../../command/command-error.ts';
import { readFlags } from '../../command/read-flags.ts';

export interface StartOptions {
  /** 0 takes any free one. */
  port: number;
  /** Absolute path of the folder in which everything is kept. */
  dataFolder: string;
}

const usage = `Usage: npm start -- [--port <port>] [--data <folder>]
  --port  where the service listens, on 127.0.0.1 (3000, or PORT); 0 for any free port
  --data  where it keeps everything (.data, or DATA_DIR)`;

const options = { port: { type: 'string' }, data: { type: 'string' } } as const;

/** Flags win over `PORT` and `DATA_DIR`, and these over the defaults. @throws CommandError for anything else */
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
  return { port: Number(port), dataFolder: flags.data === undefined ? resolve(folder) : givenPath(folder) };
}
