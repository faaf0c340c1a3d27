import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { platform } from '../../../shared/host/platform.ts';
import { CommandError } from '../../command/command-error.ts';

/**
 * Find the embedded emulator of this platform. @throws CommandError if there is none, or if npm could not fetch it
 */
export function findEmulator(of = platform): EmbeddedEmulator {
  const name = `@dynoxide/${of}`;
  try {
    const program = createRequire(import.meta.url).resolve(`${name}/dynoxide`);
    const { version } = JSON.parse(readFileSync(join(dirname(program), 'package.json'), 'utf8'));
    return { program, name: `${name} ${version}` };
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
