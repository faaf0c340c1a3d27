import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { type OutputChunk, rolldown } from 'rolldown';
import { pagePalette } from '../../shared/drawing/page-palette.ts';
import { retriedImports } from './retried-imports.ts';

/** The built console. */
export interface ConsoleFiles {
  /** Name of the first page's only script. */
  script: string;
  /** Name of the style sheet. */
  style: string;
  /** Files of each part that is loaded later, by the part's name. Files of the first page are left out. */
  parts: Record<string, readonly string[]>;
  /** All files by name, gzipped and base64-encoded. */
  files: Record<string, { mediaType: string; gzip: string }>;
}

const folder = fileURLToPath(new URL('app/', import.meta.url));
const browsers = ['es2022', 'chrome120', 'firefox120', 'safari17'];

/**
 * Bundle the scripts: one file for the first page, and parts that load on demand. Small code that several parts
 * share is merged into one file, because each file is a request, and API Gateway admits five concurrent requests
 * in a new account. `modules` receives the module of each part by name.
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
    // Its unused decompressor of Snappy would compile WebAssembly at import, which the policy of the page forbids.
    treeshake: { moduleSideEffects: (id) => !/[\\/](?:hyparquet-compressors|hysnappy)[\\/]/.test(id) },
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

/** Return a chunk's files: itself and its imports, without the first script. */
function filesOf(chunk: OutputChunk, chunks: readonly OutputChunk[], found = new Set<string>()): Set<string> {
  if (chunk.isEntry || found.has(chunk.fileName)) return found;
  found.add(chunk.fileName);
  for (const imported of chunks.filter(({ fileName }) => chunk.imports.includes(fileName)))
    filesOf(imported, chunks, found);
  return found;
}

/**
 * Bundle the console for browsers. File names contain a hash of the content, so browsers may cache them forever.
 */
export async function buildApp(): Promise<ConsoleFiles> {
  const modules = new Map<string, string>();
  const [chunks, style] = await Promise.all([bundleScripts(modules), bundleStyle()]);
  const first = chunks.find(({ isEntry }) => isEntry);
  if (first === undefined || first.imports.length > 0)
    throw new Error('the console must have exactly one first script');
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
