import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import * as z from 'zod';
import { tryParseJson } from '../../../core/text/try-parse-json.ts';
import { readAtMost } from '../../host/read-at-most.ts';
import { normalName } from '../dependencies/python-requirements.ts';
import type { ResolvedDependency } from '../dependencies/resolved-dependencies.ts';
import { maskCredentials } from '../operator-environment.ts';

const DirectUrl = z.object({ url: z.string() });

/**
 * List the packages of a virtual environment, one sorted line each: `name==version`, and `name @
 * file:path#sha256=…` for the source's own packages. Reads the metadata that every installer writes
 * (`*.dist-info`), so uv and pip give the same list, and nothing of the environment is executed.
 */
export async function pythonLock(
  folder: string,
  dependencies: readonly ResolvedDependency[],
): Promise<string> {
  const lines: string[] = [];
  for (const version of await readdir(join(folder, 'lib'))) {
    const site = join(folder, 'lib', version, 'site-packages');
    for (const name of await readdir(site).catch(() => [])) {
      const [, project, release] = /^([\w.]+)-([\w.!+]+)\.dist-info$/.exec(name) ?? [];
      if (project === undefined || release === undefined) continue;
      const text = await readSmall(join(site, name, 'direct_url.json'), 64 * 1024);
      const direct = DirectUrl.safeParse(tryParseJson(text ?? '')).data?.url;
      lines.push(
        `${normalName(project)}${direct === undefined ? `==${release}` : ` @ ${origin(direct, dependencies)}`}`,
      );
    }
  }
  return lockText(lines);
}

/** Read a small text file from untrusted code; null if it is not there, no file or too large. Follows no links and reads at most `maxBytes`. */
export async function readSmall(path: string, maxBytes: number): Promise<string | null> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    () => null,
  );
  if (file === null) return null;
  try {
    if (!(await file.stat()).isFile()) return null;
    return (await readAtMost(file, maxBytes))?.toString('utf8') ?? null;
  } finally {
    await file.close();
  }
}

function origin(url: string, dependencies: readonly ResolvedDependency[]): string {
  if (!url.startsWith('file:')) return maskCredentials(url);
  // `…/packages/<number>/<file>`: the number is the position among the copied packages.
  const [, number = '', file = ''] = /\/(\d+)\/([^/]+)$/.exec(url) ?? [];
  const copied = dependencies.filter((dependency) => dependency.kind === 'file')[Number(number)];
  return copied !== undefined && basename(copied.path) === decode(file)
    ? `file:${copied.path}#sha256=${copied.sha256}`
    : 'file:unknown';
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function lockText(lines: readonly string[]): string {
  return [...lines]
    .sort()
    .map((line) => `${line}\n`)
    .join('');
}

const HiddenLock = z.object({
  packages: z.record(
    z.string(),
    z.object({ version: z.string().optional(), integrity: z.string().optional() }),
  ),
});

/** List npm packages as `path version integrity`, from npm's own list of `node_modules`. */
export async function nodeLock(folder: string): Promise<string> {
  const text = await readSmall(join(folder, 'node_modules', '.package-lock.json'), 64 * 1024 * 1024);
  const { packages } = HiddenLock.safeParse(tryParseJson(text ?? '')).data ?? { packages: {} };
  return lockText(
    Object.entries(packages).map(([path, { version = '', integrity = '' }]) =>
      `${path.replace(/^node_modules\//, '')} ${version} ${integrity}`.trim(),
    ),
  );
}

/** Return the SHA-256 (hex) of a list. */
export function lockHash(lock: string): string {
  return createHash('sha256').update(lock).digest('hex');
}
