import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { en } from 'zod/locales';
import * as z from 'zod/mini';
import { keysAt, ProjectFile } from '../../shared/config/project-file.ts';
import { nearestName } from '../../shared/core/nearest-name.ts';
import { CliError, exitCodes } from '../cli-error.ts';

/** Read the folder's `mps.yaml`. Without one, return an empty object. @throws CliError that names all faults */
export async function readProjectFile(folder: string): Promise<ProjectFile> {
  const content = await readFile(join(folder, projectFileName), 'utf8').catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw error;
    },
  );
  if (content === undefined) return {};
  const refuse = (faults: string) => {
    throw new CliError(`${projectFileName} cannot be used:\n${faults}`, exitCodes.usage);
  };
  let value: unknown;
  try {
    value = parse(content) ?? {};
  } catch (error) {
    return refuse(`  ${error instanceof Error ? error.message.trim() : String(error)}`);
  }
  z.config(en());
  const parsed = ProjectFile.safeParse(value);
  return parsed.success ? parsed.data : refuse(parsed.error.issues.flatMap(faultOf).join('\n'));
}

const projectFileName = 'mps.yaml';

/** Describe a fault of the file. Suggest the nearest name for an unknown key. */
function faultOf(issue: z.core.$ZodIssue): string[] {
  const at = issue.path.join('.');
  if (issue.code !== 'unrecognized_keys') return [`  ${at === '' ? 'the file' : at}: ${issue.message}`];
  const known = keysAt(issue.path);
  return issue.keys.map((key) => {
    const near = nearestName(key, known);
    const hint = near === undefined ? `Known are ${known.join(', ')}.` : `Did you mean ${near}?`;
    return `  ${[...issue.path, key].join('.')}: unknown. ${hint}`;
  });
}
