import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative, sep } from 'node:path';
import { isStringLiteral } from 'typescript/unstable/ast';
import { API } from 'typescript/unstable/async';

/** The modules that a module imports, for each module of a folder. Paths are relative to the folder. */
export type ImportGraph = ReadonlyMap<string, readonly string[]>;

/**
 * Read every import and re-export of the modules of a folder, those of types and `import()` included, with the
 * TypeScript compiler's parser. Nothing is resolved: relative specifiers are paths here, and packages are left out.
 */
export async function readImportGraph(root: string, rooms: readonly string[]): Promise<ImportGraph> {
  const folder = await mkdtemp(join(tmpdir(), 'import-graph-'));
  const project = join(folder, 'tsconfig.json');
  const include = rooms.flatMap((room) =>
    ['ts', 'tsx', 'mjs'].map((end) => `${join(root, room)}/**/*.${end}`),
  );
  const compilerOptions = { allowJs: true, jsx: 'preserve', noResolve: true, noLib: true, types: [] };
  await writeFile(project, JSON.stringify({ compilerOptions, include, exclude: [] }));
  const api = new API({ cwd: folder });
  try {
    const snapshot = await api.updateSnapshot({ openProjects: [project] });
    const program = snapshot.getProject(project)?.program;
    if (program === undefined) throw new Error(`the compiler has not opened ${project}`);
    const graph = new Map<string, readonly string[]>();
    for (const file of await program.getSourceFileNames()) {
      const source = await program.getSourceFile(file);
      const specifiers = (source?.imports ?? []).flatMap((node) =>
        isStringLiteral(node) ? [node.text] : [],
      );
      const paths = specifiers.filter((specifier) => specifier.startsWith('.'));
      const moduleOf = (path: string): string => relative(root, path).replaceAll(sep, '/');
      graph.set(
        moduleOf(file),
        paths.map((path) => moduleOf(join(dirname(file), path))),
      );
    }
    return graph;
  } finally {
    await api.close();
    await rm(folder, { recursive: true });
  }
}
