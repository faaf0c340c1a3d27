import { open } from 'node:fs/promises';
import { type Document, isMap, isNode, LineCounter, parseDocument } from 'yaml';

/** Bytes that are read of a file: more than any that people write. */
const maxBytes = 100_000;

/**
 * Read a file of YAML with the lines of its values.
 * @throws Error of the file system
 */
export async function readYaml(file: string): Promise<ReadYaml> {
  const bytes = await firstBytes(file);
  if (bytes.length > maxBytes) return unread(`  the file has more than ${maxBytes} bytes.`);
  const lines = new LineCounter();
  const text = bytes.toString('utf8');
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const lineAt = (offset: number): number => lines.linePos(offset).line;
  const faults = document.errors.map(
    ({ pos, code, message }) =>
      `  line ${lineAt(pos[0])}: ${sentenceOf(code, message, text.slice(pos[0], pos[0] + 64))}`,
  );
  // Of what is no YAML, the values mean nothing. A key that comes twice hides no other fault.
  const isReadable = document.errors.every(({ code }) => code === 'DUPLICATE_KEY');
  if (!isReadable) return unread(...faults);
  try {
    const value: unknown = document.toJS() ?? {};
    return { value, faults, lineOf: (at) => lineOf(document, at, lineAt) };
  } catch (error) {
    return unread(`  ${error instanceof Error ? error.message : String(error)}`);
  }
}

function sentenceOf(code: string, message: string, at: string): string {
  if (code === 'MULTIPLE_DOCS') return 'a second document begins, and one is allowed.';
  return code === 'DUPLICATE_KEY' ? `${/^[\w-]*/.exec(at)?.[0]}: comes twice.` : message;
}

interface ReadYaml {
  /** Undefined if it cannot be read. */
  value: unknown;
  faults: readonly string[];
  /** Return the line of the value at a path, or of the nearest one that is there. Undefined for the whole file. */
  lineOf(at: readonly PropertyKey[]): number | undefined;
}

const unread = (...faults: string[]): ReadYaml => ({
  value: undefined,
  faults,
  lineOf: () => undefined,
});

async function firstBytes(path: string): Promise<Buffer> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(maxBytes + 1), 0, maxBytes + 1, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

function lineOf(
  document: Document,
  at: readonly PropertyKey[],
  lineAt: (offset: number) => number,
): number | undefined {
  for (let length = at.length; length > 0; length -= 1) {
    const path = at.slice(0, length);
    const above = path.length === 1 ? document.contents : document.getIn(path.slice(0, -1), true);
    const key = path.at(-1);
    const named = isMap(above)
      ? above.items.find((pair) => String(pair.key) === String(key))?.key
      : document.getIn(path, true);
    if (isNode(named) && named.range) return lineAt(named.range[0]);
  }
  return undefined;
}
