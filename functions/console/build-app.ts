import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { type OutputChunk, rolldown } from 'rolldown';
import { pagePalette } from '../../shared/drawing/page-palette.ts';
import { retriedImports } from './retried-imports.ts';

/** The built console. */
export interface ConsoleFiles {
  /** Name of the one script of the first page. */
  script: string;
  /** Name of the style sheet. */
  style: string;
  /** What is loaded later, by its name: the files that the page does not have by then. */
  parts: Record<string, readonly string[]>;
  /** Every file by its name, compressed by gzip, in base64. */
  files: Record<string, { mediaType: string; gzip: string }>;
}

const folder = fileURLToPath(new URL('app/', import.meta.url));
const browsers = ['es2022', 'chrome120', 'firefox120', 'safari17'];

/**
 * The scripts: a first one with all that the first page needs, in one file, and parts that are loaded when they are needed.
 * What several parts share and is small is one file too: each file is a request, and the stage of a new account lets five
 * through at once. `modules` gets the module of each part by its name.
 */
async function bundleScripts(modules: Map<string, string>): Promise<OutputChunk[]> {
  const bundle = await rolldown({
    cwd: folder,
    input: { main: 'main.tsx' },
    platform: 'browser',
    tsconfig: false,
    transform: {
      target: browsers,
      jsx: { runtime: 'automatic', importSource: 'preact' },
      define: { 'process.env.NODE_ENV': '"production"' },
    },
    plugins: [retriedImports(folder, modules)],
    logLevel: 'warn',
  });
  try {
    const { output } = await bundle.generate({
      format: 'esm',
      minify: true,
      comments: { legal: false },
      entryFileNames: '[name]-[hash].js',
      chunkFileNames: 'part-[hash].js',
      hashCharacters: 'base36',
      codeSplitting: {
        groups: [
          { name: 'main', tags: ['$initial'] },
          { name: 'shared', minShareCount: 2, maxModuleSize: 8_000 },
        ],
      },
    });
    return output.filter((file) => file.type === 'chunk');
  } finally {
    await bundle.close();
  }
}

async function bundleStyle(): Promise<Uint8Array> {
  const { outputFiles } = await build({
    absWorkingDir: folder,
    entryPoints: ['style/main.css'],
    bundle: true,
    target: browsers.slice(1),
    minify: true,
    write: false,
    logLevel: 'warning',
  });
  return Buffer.concat([Buffer.from(pagePalette), ...outputFiles.map(({ contents }) => contents)]);
}

/** The files that a chunk needs, itself and those that it imports, without the first script. */
function filesOf(chunk: OutputChunk, chunks: readonly OutputChunk[], found = new Set<string>()): Set<string> {
  if (chunk.isEntry || found.has(chunk.fileName)) return found;
  found.add(chunk.fileName);
  for (const imported of chunks.filter(({ fileName }) => chunk.imports.includes(fileName)))
    filesOf(imported, chunks, found);
  return found;
}

/** Bundles the console for browsers. Names carry hashes of the content, so that a file may be kept for ever. */
export async function buildApp(): Promise<ConsoleFiles> {
  const modules = new Map<string, string>();
  const [chunks, style] = await Promise.all([bundleScripts(modules), bundleStyle()]);
  const first = chunks.find(({ isEntry }) => isEntry);
  if (first === undefined || first.imports.length > 0) throw new Error('the console is not one first script');
  const files: ConsoleFiles['files'] = {};
  const add = (name: string, mediaType: string, bytes: Uint8Array | string): void => {
    files[name] = {
      mediaType: `${mediaType}; charset=utf-8`,
      gzip: gzipSync(bytes, { level: 9 }).toString('base64'),
    };
  };
  for (const { fileName, code } of chunks) add(fileName, 'text/javascript', code);
  const hash = createHash('sha256').update(style).digest('base64url').replace(/[-_]/g, '0').slice(0, 10);
  const styleName = `main-${hash}.css`;
  add(styleName, 'text/css', style);
  const parts: Record<string, readonly string[]> = {};
  for (const [name, module] of modules) {
    const chunk = chunks.find(({ moduleIds }) => moduleIds.includes(module));
    if (chunk === undefined) throw new Error(`the console has no file for its part ${name}`);
    parts[name] = [...filesOf(chunk, chunks)];
  }
  return { script: first.fileName, style: styleName, parts, files };
}
