import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';
import { errorText } from '../../../core/error-text.ts';
import { tryParseJson } from '../../../core/text/try-parse-json.ts';
import { installerEnvironment, type Variables } from '../operator-environment.ts';
import { installerMessage, type RunCommand } from './installer.ts';
import { compareVersions, type PythonCondition } from './python-version.ts';

/** The interpreters that uv downloads for a host. */
export interface ManagedPythons {
  /** Absolute path; it exists. */
  folder: string;
  /** Runs uv with the service's own rights: it unpacks files that it knows by their hash, and runs none of them. */
  run: RunCommand;
  operatorEnv: Variables;
  log(line: string): void;
}

/** Return the conditions as uv takes them: `>=3.10,<3.12`. */
export const uvConditions = (wanted: readonly PythonCondition[]): string =>
  wanted.map(({ versions }) => versions).join(',');

/**
 * Download the interpreter that uv chooses for the conditions. It repeats nothing that is there, and a killed download
 * leaves nothing that counts.
 *
 * @returns why that was not possible; blank if it was, or if uv is not here or may not download
 */
export async function downloadPython(
  { folder, run, operatorEnv, log }: ManagedPythons,
  wanted: readonly PythonCondition[],
): Promise<string> {
  if (!mayDownload(operatorEnv)) return '';
  const scratch = await mkdtemp(join(folder, '.scratch-'));
  try {
    await mkdir(join(scratch, 'tmp'));
    const env = { ...installerEnvironment(operatorEnv, scratch), UV_PYTHON_INSTALL_DIR: folder };
    const options = ['--no-config', '--no-progress', '--no-bin'];
    if ((await run({ argv: ['uv', '--version'], cwd: scratch, env })).exitCode !== 0) return '';
    log(`environment: uv downloads Python ${uvConditions(wanted)}`);
    const argv = ['uv', 'python', 'install', ...options, uvConditions(wanted)] as const;
    const { exitCode, tail, message = '' } = await run({ argv, cwd: scratch, env });
    return exitCode === 0 ? '' : `uv could not download it: ${installerMessage(tail) || message}`;
  } catch (error) {
    return `uv could not download it: ${errorText(error)}`;
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** Settings for a call of uv that only asks: without a cache it needs nothing but a place for temporary files. */
export const uvQuestion = {
  options: ['--no-config', '--no-cache'],
  env: (given: Readonly<Record<string, string>>) => ({ ...given, TMPDIR: tmpdir() }),
} as const;

/** uv's own variable forbids downloads. */
const mayDownload = (operatorEnv: Variables): boolean => operatorEnv['UV_PYTHON_DOWNLOADS'] !== 'never';

const Listed = z.array(z.object({ version: z.string(), implementation: z.string() }));

/** Return the versions of Python that uv can download, the newest first; none if it is not here or may not. */
export async function downloadableVersions(
  run: RunCommand,
  cwd: string,
  operatorEnv: Variables,
): Promise<string[]> {
  if (!mayDownload(operatorEnv)) return [];
  const listing = ['--only-downloads', '--output-format', 'json'];
  const argv = ['uv', 'python', 'list', ...uvQuestion.options, ...listing] as const;
  const env = uvQuestion.env(installerEnvironment(operatorEnv, '/nonexistent'));
  const { exitCode, tail } = await run({ argv, cwd, env });
  // Another version of uv may print something else, which is no list.
  const listed = exitCode === 0 ? (Listed.safeParse(tryParseJson(tail)).data ?? []) : [];
  // A pre-release is no answer to `>=3.12`.
  const released = listed.filter(({ version, implementation }) => {
    return implementation === 'cpython' && /^3\.\d+\.\d+$/.test(version);
  });
  return [...new Set(released.map(({ version }) => version))].sort(compareVersions).reverse();
}
