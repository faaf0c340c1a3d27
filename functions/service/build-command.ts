import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { type BuildOptions, build } from 'esbuild';
import { Header } from 'tar';
import { buildWheel } from './build-wheel.ts';

/** The command `mps` and the Python package `mps` as the service delivers them. */
export interface CommandFiles {
  /** The package that npm installs, in base64. */
  archive: string;
  /** Offset of the program in the unpacked archive. */
  offset: number;
  /** Bytes of the program. */
  size: number;
  /** The Python package that pip installs, in base64. */
  wheel: string;
  /** The skill for agents, in Markdown. */
  skill: string;
}

const root = fileURLToPath(new URL('../..', import.meta.url));
const blockBytes = 512;

/** Build one entry of a tar archive: its header, and its bytes padded to a whole block. */
function entry(path: string, bytes: Uint8Array, mode: number): Buffer {
  const header = new Header({
    path,
    mode,
    size: bytes.length,
    type: 'File',
    mtime: new Date(0),
    uid: 0,
    gid: 0,
  });
  const block = Buffer.alloc(blockBytes);
  header.encode(block, 0);
  const rest = Buffer.alloc((blockBytes - (bytes.length % blockBytes)) % blockBytes);
  return Buffer.concat([block, bytes, rest]);
}

/** Manifest for npm: no dependencies, and no install scripts. */
const manifestOf = (version: string) => ({
  name: 'model-project-service-cli',
  version,
  description: 'The command mps of a Model Project Service.',
  license: 'Apache-2.0',
  type: 'module',
  bin: { mps: 'mps.mjs' },
  engines: { node: '>=20' },
});

/**
 * Build the command from the source tree and pack it. The build is reproducible: equal sources make equal bytes.
 */
export async function buildCommandFiles(): Promise<CommandFiles> {
  const { code, libraries, version } = await bundleCommand(root);
  const manifest = Buffer.from(`${JSON.stringify(manifestOf(version), undefined, 2)}\n`);
  const before = entry('package/package.json', manifest, 0o644);
  const end = Buffer.alloc(2 * blockBytes);
  const engine = (await bundleEngine(root)).map(({ path, contents }) =>
    entry(`package/${path}`, contents, 0o644),
  );
  const program = entry('package/mps.mjs', code, 0o755);
  const readers = (await importReaders(root)).map(({ path, contents }) =>
    entry(`package/${path}`, contents, 0o644),
  );
  const beside = libraries.map(({ path, contents }) => entry(`package/${path}`, contents, 0o644));
  const archive = gzipSync(Buffer.concat([before, program, ...beside, ...engine, ...readers, end]), {
    level: 9,
  });
  const wheel = await buildWheel(root, createHash('sha256').update(archive).digest('hex'));
  return {
    archive: archive.toString('base64'),
    offset: before.length + blockBytes,
    size: code.length,
    wheel: Buffer.from(wheel).toString('base64'),
    skill: await readFile(join(root, 'skills/mps/SKILL.md'), 'utf8'),
  };
}

export interface CommandBundle {
  code: Uint8Array;
  /** Libraries beside the command, each of which one command alone loads. */
  libraries: { path: string; contents: Uint8Array }[];
  version: string;
  /** Paths of all source files in the bundle, relative to the project folder. */
  sources: string[];
}

const protocol = '@modelcontextprotocol/sdk';

/** Libraries that one command alone loads, by the file that they are in: what it exports of each. */
const librariesBeside: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  // `mps import` from Neptune.
  'parquet.mjs': { hyparquet: '*' },
  // `mps infer --image`.
  'images.mjs': { 'jpeg-js': '{ decode }', pngjs: '{ PNG }' },
  // `mps mcp`.
  'mcp.mjs': {
    [`${protocol}/server/index.js`]: '*',
    [`${protocol}/server/stdio.js`]: '*',
    [`${protocol}/types.js`]: '*',
    'zod/v4/core': '{ toJSONSchema }',
  },
};

/** CommonJS packages load Node's built-in modules with `require`. */
const requireBanner =
  "import { createRequire as requireOfBundle } from 'node:module'; const require = requireOfBundle(import.meta.url);";

/** What all bundles of the command have in common. */
const common = {
  write: false,
  bundle: true,
  platform: 'node',
  format: 'esm',
  mainFields: ['module', 'main'],
  minify: true,
  legalComments: 'none',
  logLevel: 'warning',
} satisfies BuildOptions;

/**
 * Bundle the command `mps` into one file for the oldest Node version that it supports.
 * @param root folder of the project
 */
export async function bundleCommand(root: string): Promise<CommandBundle> {
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: ['cli/main.ts'],
    outfile: 'mps.mjs',
    ...common,
    target: 'node20',
    // Stack traces need function names.
    keepNames: true,
    metafile: true,
    define: { MPS_VERSION: JSON.stringify(version) },
    alias: Object.fromEntries(
      Object.entries(librariesBeside).flatMap(([file, names]) =>
        Object.keys(names).map((name) => [name, `./${file}`]),
      ),
    ),
    external: Object.keys(librariesBeside).map((file) => `./${file}`),
    banner: { js: `#!/usr/bin/env node\n${requireBanner}` },
  });
  const code = outputFiles[0]?.contents ?? new Uint8Array();
  const libraries = await Promise.all(
    Object.entries(librariesBeside).map(async ([path, names]) => {
      const library = await build({
        stdin: {
          contents: Object.entries(names)
            .map(([name, exported]) => `export ${exported} from '${name}';`)
            .join('\n'),
          resolveDir: root,
        },
        ...common,
        target: 'node20',
        banner: { js: requireBanner },
      });
      return { path, contents: library.outputFiles[0]?.contents ?? new Uint8Array() };
    }),
  );
  return { code, libraries, version, sources: [...Object.keys(metafile.inputs), 'package.json'] };
}

/**
 * Bundle the engine and its stage program, which the command needs for measurements.
 * @param root folder of the project
 */
export async function bundleEngine(root: string): Promise<{ path: string; contents: Uint8Array }[]> {
  const manifest = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
  };
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: { main: 'shared/onnx/cli/packed.ts', stage: 'shared/onnx/engine/process/main.ts' },
    outdir: 'engine',
    ...common,
    target: 'node24',
    // A native library cannot be bundled.
    external: ['onnxruntime-node'],
    keepNames: true,
    define: { runtimeVersion: JSON.stringify(manifest.dependencies['onnxruntime-node']) },
    banner: { js: requireBanner },
  });
  return outputFiles.map(({ path, contents }) => ({ path: `engine/${basename(path)}`, contents }));
}

/** Read the programs of Python that read what Node cannot for `mps import`. */
async function importReaders(root: string): Promise<{ path: string; contents: Uint8Array }[]> {
  const folder = join(root, 'cli/import/python');
  const names = (await readdir(folder)).filter((name) => name.endsWith('.py')).sort();
  return Promise.all(
    names.map(async (name) => ({ path: `python/${name}`, contents: await readFile(join(folder, name)) })),
  );
}
