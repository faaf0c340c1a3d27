import { mkdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { build } from 'esbuild';

/** The command and the program of its stages, each in one file. */
const programs = { command: 'shared/onnx/cli/command.ts', stage: 'shared/onnx/stage/main.ts' };

/**
 * Bundle the command and its stages into a folder within the project, and note beside them which sources they are made of.
 * Each file appears whole; the note comes last.
 *
 * @param root folder of the project
 */
export async function writeBundle(root: string, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: programs,
    outdir: folder,
    write: false,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node24',
    mainFields: ['module', 'main'],
    // A native library.
    external: ['onnxruntime-node'],
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: 'none',
    // CommonJS packages ask for node's own modules by require.
    banner: {
      js: "import { createRequire as requireOfBundle } from 'node:module'; const require = requireOfBundle(import.meta.url);",
    },
    metafile: true,
    logLevel: 'warning',
  });
  const sources = await Promise.all(
    Object.keys(metafile.inputs).map(async (path) => {
      const { size, mtimeMs: time } = await stat(join(root, path));
      return { path, size, time };
    }),
  );
  const files = outputFiles.map(({ path, contents }) => ({ name: basename(path), contents }));
  const note = { name: 'sources.json', contents: Buffer.from(JSON.stringify(sources)) };
  for (const { name, contents } of [...files, note]) {
    const unfinished = join(folder, `${process.pid}-${name}`);
    try {
      await writeFile(unfinished, contents);
      await rename(unfinished, join(folder, name));
    } finally {
      await rm(unfinished, { force: true });
    }
  }
}
