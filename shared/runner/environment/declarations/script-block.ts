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
  const [block, second] = blocksOf(content);
  if (block === undefined) return undefined;
  if (second !== undefined) throw refused(path, 'it has more than one');
  try {
    const { dependencies = [], 'requires-python': python } = Block.parse(parse(block));
    return { requirements: dependencies, python };
  } catch (error) {
    throw refused(path, errorText(error).trim());
  }
}

/**
 * Return the contents of the blocks of the type `script`. They are those that the expression of PEP 723 finds, which takes
 * quadratic time for a file of lines that begin a block: a block ends at the first end line, or is none if its comment
 * ends before.
 */
function blocksOf(content: string): string[] {
  const blocks: string[] = [];
  let open: string[] | undefined;
  for (const line of content.split(/\r?\n/)) {
    if (open !== undefined && open.length > 0 && /^# \/\/\/[ \t]*$/.test(line)) {
      blocks.push(open.join('\n'));
      open = undefined;
    } else if (open !== undefined && /^#(?: |$)/.test(line))
      open.push(line.slice(line.startsWith('# ') ? 2 : 1));
    else if (/^# \/\/\/ script[ \t]*$/.test(line)) open = [];
    else open = undefined;
  }
  return blocks;
}

const Block = z.object({
  dependencies: z.optional(z.array(z.string())),
  'requires-python': z.optional(z.string()),
});

const refused = (path: string, why: string): EnvironmentError =>
  new EnvironmentError('bad-dependencies', `${path}: its block "# /// script" cannot be read: ${why}`);
