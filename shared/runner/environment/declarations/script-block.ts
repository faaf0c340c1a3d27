import { parse } from 'smol-toml';
import * as z from 'zod/mini';
import { errorText } from '../../../core/error-text.ts';
import { EnvironmentError } from '../environment-error.ts';

/** What the block of a script declares. */
export interface ScriptBlock {
  requirements: string[];
  /** Allowed versions of Python, as in `>=3.11`; undefined if the block does not limit them. */
  python: string | undefined;
}

/**
 * Read the block `# /// script` of a Python program (PEP 723); undefined if it has none.
 *
 * @throws EnvironmentError `bad-dependencies` if it has more than one block, or one that cannot be read
 * @example readScriptBlock('# /// script\n# dependencies = ["six"]\n# ///\n')?.requirements // ['six']
 */
export function readScriptBlock(path: string, content: string): ScriptBlock | undefined {
  const [block, second] = content.matchAll(pattern);
  if (block === undefined) return undefined;
  if (second !== undefined) throw refused(path, 'it has more than one');
  const lines = (block[1] ?? '').split(/\r?\n/).map((line) => line.slice(line.startsWith('# ') ? 2 : 1));
  try {
    const { dependencies = [], 'requires-python': python } = Block.parse(parse(lines.join('\n')));
    return { requirements: dependencies, python };
  } catch (error) {
    throw refused(path, errorText(error).trim());
  }
}

/** The expression that PEP 723 gives, for blocks of the type `script`. */
const pattern = /^# \/\/\/ script[ \t]*\r?\n((?:^#(?:| .*)\r?\n)+?)^# \/\/\/[ \t]*\r?$/gm;

const Block = z.object({
  dependencies: z.optional(z.array(z.string())),
  'requires-python': z.optional(z.string()),
});

const refused = (path: string, why: string): EnvironmentError =>
  new EnvironmentError('bad-dependencies', `${path}: its block "# /// script" cannot be read: ${why}`);
