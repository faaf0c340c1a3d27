import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { runProgram, succeeds } from './run-program.ts';

/** The version that these tests ran with; another one that is installed is used as it is. */
const version = '1.170.0';

/** The folder of the AWS SAM CLI's program: undefined where it is installed, else one in `cache`, installed once. */
export async function samFolder(cache: string): Promise<string | undefined> {
  if (succeeds('sam', ['--version'])) return undefined;
  const folder = join(cache, `sam-${version}`);
  if (!succeeds(join(folder, 'bin/sam'), ['--version'])) {
    await rm(folder, { recursive: true, force: true });
    runProgram('python3', ['-m', 'venv', folder]);
    runProgram(join(folder, 'bin/pip'), ['install', '--quiet', `aws-sam-cli==${version}`]);
  }
  return join(folder, 'bin');
}
