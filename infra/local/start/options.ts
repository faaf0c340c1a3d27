import { resolve } from 'node:path';
import { parseArgs } from 'node:util';

export interface StartOptions {
  /** 0 takes any free one. */
  port: number;
  /** Absolute path of the folder in which everything is kept. */
  dataFolder: string;
}

/** Something is wrong that the person who starts the service can put right; its message says how. */
export class StartError extends Error {
  override readonly name = 'StartError';
}

const usage = 'Usage: npm start -- [--port <port>] [--data <folder>]';

function parseFlags(args: readonly string[]): { port?: string | undefined; data?: string | undefined } {
  try {
    return parseArgs({ args: [...args], options: { port: { type: 'string' }, data: { type: 'string' } } })
      .values;
  } catch (error) {
    throw new StartError(`${error instanceof Error ? error.message : String(error)}\n${usage}`);
  }
}

/** Flags win over `PORT` and `DATA_DIR`, and these over the defaults. @throws StartError for anything else */
export function readOptions(
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): StartOptions {
  const flags = parseFlags(args);
  const port = flags.port ?? environment['PORT'] ?? '3000';
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) {
    throw new StartError(`--port must be a number from 0 to 65535, not "${port}".\n${usage}`);
  }
  const folder = flags.data ?? environment['DATA_DIR'] ?? '.data';
  if (folder === '') throw new StartError(`--data must name a folder.\n${usage}`);
  return { port: Number(port), dataFolder: resolve(folder) };
}
