import { glob, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path/posix';
import { type ParseResult, parseSync, Visitor } from 'oxc-parser';

/** The modules that a module imports, for each module of a folder. Paths are relative to the folder. */
export type ImportGraph = ReadonlyMap<string, readonly string[]>;

/**
 * Read every import and re-export of the modules of a folder, those of types and `import()` included. Nothing is resolved:
 * relative specifiers are paths here, and packages are left out.
 */
export async function readImportGraph(root: string, rooms: readonly string[]): Promise<ImportGraph> {
  const graph = new Map<string, readonly string[]>();
  const patterns = rooms.map((room) => `${room}/**/*.{ts,tsx,mjs}`);
  for await (const name of glob(patterns, { cwd: root })) {
    const file = name.replaceAll('\\', '/');
    const text = await readFile(join(root, file), 'utf8');
    const paths = specifiersIn(text, parseSync(file, text)).filter((specifier) => specifier.startsWith('.'));
    graph.set(
      file,
      paths.map((path) => join(dirname(file), path)),
    );
  }
  return graph;
}

function specifiersIn(text: string, result: ParseResult): string[] {
  const [fault] = result.errors;
  if (fault !== undefined) throw new Error(fault.message);
  const { staticImports, staticExports, dynamicImports } = result.module;
  const requests = [...staticImports, ...staticExports.flatMap(({ entries }) => entries)];
  const dynamic = dynamicImports.map(({ moduleRequest: { start, end } }) => text.slice(start, end));
  return [
    ...new Set(requests.flatMap(({ moduleRequest }) => moduleRequest?.value ?? [])),
    ...dynamic.flatMap((argument) => /^['"](.*)['"]$/.exec(argument)?.[1] ?? []),
    ...((text.match(/\bimport\s*\(/g)?.length ?? 0) > dynamic.length ? importedTypes(result) : []),
  ];
}

/** Return the modules of `import('…').Type`, which only the tree of a module has: it takes most of the time. */
function importedTypes({ program }: ParseResult): string[] {
  const found: string[] = [];
  new Visitor({
    TSImportType({ source }) {
      found.push(source.value);
    },
  }).visit(program);
  return found;
}
