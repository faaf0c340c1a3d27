import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { platform } from '../../../shared/host/platform.ts';
import { CommandError } from '../../command/command-error.ts';

/**
 * Find the embedded emulator of this platform.
 * @throws CommandError if there is none, if npm could not fetch it, or if nobody vouches for what npm fetched
 */
export function findEmulator(
  of = platform,
  { find = findProgram, vouched = process.env['EMULATOR_SHA256'] }: Sources = {},
): EmbeddedEmulator {
  const name = `@dynoxide/${of}`;
  const program = programOf(of, name, find);
  const { version } = JSON.parse(readFileSync(join(dirname(program), 'package.json'), 'utf8'));
  const emulator = { program, name: `${name} ${version}` };
  if (unpinned.includes(of)) requireVouched(emulator, vouched);
  return emulator;
}

/** Where the program comes from, for tests. */
interface Sources {
  find?: (name: string) => string;
  /** SHA-256 of a program that the operator trusts. */
  vouched?: string | undefined;
}

/** Platforms whose package has no checksum in `package-lock.json`, so npm takes whatever a registry sends. */
export const unpinned: readonly string[] = ['darwin-arm64', 'darwin-x64', 'linux-arm64', 'win32-x64'];

function requireVouched({ program, name }: EmbeddedEmulator, vouched: string | undefined): void {
  const found = createHash('sha256').update(readFileSync(program)).digest('hex');
  if (vouched?.toLowerCase() === found) return;
  const other = vouched === undefined ? '' : ` EMULATOR_SHA256 is that of another program.`;
  throw new CommandError(
    `The package ${name} has no checksum in package-lock.json, so its program is not run unseen.${other} Compare its SHA-256 with that of a copy you trust, and start with EMULATOR_SHA256=${found}; or run another emulator, such as Amazon's DynamoDB Local, and set DYNAMODB_ENDPOINT to its URL.`,
  );
}

const findProgram = (name: string): string => createRequire(import.meta.url).resolve(`${name}/dynoxide`);

function programOf(of: string, name: string, find: (name: string) => string): string {
  try {
    return find(name);
  } catch (cause) {
    const why = platforms.includes(of)
      ? `The package ${name} is missing: npm could not fetch it. Run "npm ci --include=optional"`
      : `There is no embedded DynamoDB emulator for ${of}; there is one for ${platforms.join(', ')}. Use one of these`;
    if (of.startsWith('win32')) {
      throw new CommandError(
        'On Windows the service runs inside WSL: run "wsl --install", and there the same commands.',
        { cause },
      );
    }
    throw new CommandError(
      `${why}, or run another emulator, such as Amazon's DynamoDB Local, and set DYNAMODB_ENDPOINT to its URL.`,
      { cause },
    );
  }
}

/** The program of the embedded emulator, and its name with version for people and records. */
interface EmbeddedEmulator {
  program: string;
  name: string;
}

/** Platforms that have a published emulator, as in `package.json`. */
const platforms = ['darwin-arm64', 'darwin-x64', 'linux-arm64', 'linux-x64'];
