import { randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { superviseInstaller } from '../../shared/runner/environment/install/supervised-installer.ts';
import { uvProgram } from '../../shared/runner/environment/install/uv-program.ts';

/**
 * The folder of the uv that installs packages in all tests: it is fetched once and stays in `.build`, so that no test has to
 * fetch it for its new data folder. Blank if the search path has one, and if none can be had: the tests that need it say why.
 */
export async function uvOfTests(): Promise<string> {
  const folder = join(import.meta.dirname, '../../.build/test');
  await mkdir(folder, { recursive: true });
  const stop = new AbortController().signal;
  const run = superviseInstaller({ marker: { name: 'UV_OF_TESTS', value: randomUUID() }, stop });
  const interpreter = { executable: 'python3', identity: 'Python 3' };
  const log = () => undefined;
  const options = { folder, interpreter, run, probe: run, operatorEnv: process.env, log, stop };
  const uv = await uvProgram(options).catch(() => 'uv');
  return uv === 'uv' ? '' : dirname(uv);
}
