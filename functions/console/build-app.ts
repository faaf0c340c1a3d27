import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { pagePalette } from '../service/page-palette.ts';

/** The built console. */
export interface ConsoleFiles {
  /** Name of the first script. */
  script: string;
  /** Name of the style sheet. */
  style: string;
  /** Scripts that the first one imports. */
  preload: readonly string[];
  /** Every file by its name, compressed by gzip, in base64. */
  files: Record<string, { mediaType: string; gzip: string }>;
}

const folder = fileURLToPath(new URL('app/', import.meta.url));

/**
 * Bundles the console for browsers: a first script and style, and parts that are loaded when they are needed. Names carry
 * hashes of the content, so that a file may be kept for ever.
 */
export async function buildApp(): Promise<ConsoleFiles> {
  const { outputFiles, metafile } = await build({
    absWorkingDir: folder,
    entryPoints: ['main.tsx'],
    outdir: 'out',
    entryNames: '[name]-[hash]',
    chunkNames: 'part-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'browser',
    target: ['es2022', 'chrome120', 'firefox120', 'safari17'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    minify: true,
    write: false,
    metafile: true,
    legalComments: 'none',
    logLevel: 'warning',
    define: { 'process.env.NODE_ENV': '"production"' },
  });
  const files: ConsoleFiles['files'] = {};
  const nameOf = new Map<string, string>();
  for (const { path, contents } of outputFiles) {
    const isStyle = path.endsWith('.css');
    const bytes = isStyle ? Buffer.concat([Buffer.from(pagePalette), contents]) : contents;
    const hash = createHash('sha256').update(bytes).digest('base64url').replace(/[-_]/g, '0').slice(0, 10);
    // The palette is no part of what esbuild has hashed.
    const name = isStyle ? `main-${hash}.css` : basename(path);
    nameOf.set(basename(path), name);
    files[name] = {
      mediaType: isStyle ? 'text/css; charset=utf-8' : 'text/javascript; charset=utf-8',
      gzip: gzipSync(bytes, { level: 9 }).toString('base64'),
    };
  }
  const [script, output] =
    Object.entries(metafile.outputs).find(([, { entryPoint }]) => entryPoint === 'main.tsx') ?? [];
  if (script === undefined || output?.cssBundle === undefined)
    throw new Error('the console has no main part');
  const named = (path: string): string => nameOf.get(basename(path)) ?? basename(path);
  return {
    script: named(script),
    style: named(output.cssBundle),
    // Loaded at once by the first script: asking for them early saves a turn.
    preload: output.imports.filter(({ kind }) => kind === 'import-statement').map(({ path }) => named(path)),
    files,
  };
}
