import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { type BuildOptions, build, type Plugin } from 'esbuild';
import { Header } from 'tar';
import { buildWheel } from './build-wheel.ts';

/** The command `mps` and the Python package `mps` as the service delivers them. */
export interface CommandFiles {
  /** The package that npm installs, in base64. */
  archive: string;
  /** The program as one file, by Brotli and in base64. */
  program: string;
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
  const { files, version } = await bundleCommand(root, 'package');
  const [alone] = (await bundleCommand(root, 'alone')).files;
  const manifest = Buffer.from(`${JSON.stringify(manifestOf(version), undefined, 2)}\n`);
  const packed = [
    { path: 'package.json', contents: manifest },
    ...files,
    ...(await bundleEngine(root)),
    ...(await importReaders(root)),
  ];
  const entries = packed.map(({ path, contents }) =>
    entry(`package/${path}`, contents, path === 'mps.mjs' ? 0o755 : 0o644),
  );
  const archive = gzipSync(Buffer.concat([...entries, Buffer.alloc(2 * blockBytes)]), { level: 9 });
  const wheel = await buildWheel(root, createHash('sha256').update(archive).digest('hex'));
  return {
    archive: archive.toString('base64'),
    program: brotliCompressSync(alone?.contents ?? '').toString('base64'),
    wheel: Buffer.from(wheel).toString('base64'),
    skill: await readFile(join(root, 'skills/mps/SKILL.md'), 'utf8'),
  };
}

export interface CommandBundle {
  /** `mps.mjs`, and what lies beside it. */
  files: BundledFile[];
  version: string;
  /** Paths of all source files in the bundle, relative to the project folder. */
  sources: string[];
}

interface BundledFile {
  path: string;
  contents: Uint8Array;
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
 * Bundle the command `mps` for the oldest Node version that it supports.
 *
 * @param root folder of the project
 * @param shape `package` has a file for each command, which is loaded with it; `checkout` has one for all, so that a new
 *   bundle replaces each file of the one before; `alone` has nothing beside it
 */
export async function bundleCommand(
  root: string,
  shape: 'package' | 'checkout' | 'alone',
): Promise<CommandBundle> {
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: { mps: 'cli/entry.ts' },
    outdir: '.',
    outExtension: { '.js': '.mjs' },
    splitting: shape === 'package',
    // The engine and the programs of Python are found beside each file.
    chunkNames: '[name]-[hash]',
    ...common,
    target: 'node20',
    // Stack traces need function names.
    keepNames: true,
    metafile: true,
    define: { MPS_VERSION: JSON.stringify(version), MPS_HELP: JSON.stringify(await helpOf(root)) },
    alias: Object.fromEntries(
      Object.entries(librariesBeside).flatMap(([file, names]) =>
        Object.keys(names).map((name) => [name, `./${file}`]),
      ),
    ),
    external: Object.keys(librariesBeside).map((file) => `./${file}`),
    banner: { js: `#!/usr/bin/env node\n${requireBanner}` },
    plugins: shape === 'alone' ? [leftOut] : [],
  });
  const files = outputFiles.map(({ path, contents }) => ({ path: basename(path), contents }));
  files.sort(
    (a, b) => Number(b.path === 'mps.mjs') - Number(a.path === 'mps.mjs') || (a.path < b.path ? -1 : 1),
  );
  const libraries = shape === 'alone' ? [] : await bundleLibraries(root);
  return {
    files: [...files, ...libraries],
    version,
    sources: [...Object.keys(metafile.inputs), 'package.json'],
  };
}

/** Return the text of `mps --help`. The command prints it without loading its commands. */
function helpOf(root: string): Promise<string> {
  const known = helps.get(root);
  if (known !== undefined) return known;
  const { PATH = '', HOME = '' } = process.env;
  const ran = promisify(execFile)(process.execPath, [join(root, 'cli/entry.ts'), '--help'], {
    cwd: root,
    env: { PATH, HOME },
  });
  const help = ran.then(({ stdout }) => stdout);
  helps.set(root, help);
  return help;
}

const helps = new Map<string, Promise<string>>();

/** Commands that the program alone does not have, by the files that make them. */
const commandsBeside = [
  { files: 'ci/check', command: 'mps ci check' },
  { files: 'mcp/(?:agent|serve-mcp)', command: 'mps mcp' },
  { files: 'import/(?:import-tracker|sources/[\\w-]+)', command: 'mps import --from' },
] as const;

/** Leave out what needs files beside the program, and refuse when it is called. */
const leftOut: Plugin = {
  name: 'left-out',
  setup({ onLoad }) {
    for (const { files, command } of commandsBeside)
      onLoad({ filter: new RegExp(`cli/${files}\\.ts$`) }, async ({ path }) => {
        const exported = (await readFile(path, 'utf8')).matchAll(
          /^export (?:async )?(?:function\*?|const|class) (\w+)/gm,
        );
        const why = JSON.stringify(`${command} is not in this one file. `);
        const stubs = [...exported].map(
          ([, name]) => `export function ${name}() { throw new CliError(${why} + wholeText()); }`,
        );
        const imports = [
          `import { CliError } from ${JSON.stringify(join(root, 'cli/cli-error.ts'))};`,
          `import { wholeText } from ${JSON.stringify(join(root, 'cli/incomplete.ts'))};`,
        ];
        return { contents: [...imports, ...stubs].join('\n'), loader: 'js' };
      });
  },
};

function bundleLibraries(root: string): Promise<BundledFile[]> {
  return Promise.all(
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
}

/**
 * Bundle the engine and its stage program, which the command needs for measurements.
 * @param root folder of the project
 */
export async function bundleEngine(root: string): Promise<BundledFile[]> {
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
async function importReaders(root: string): Promise<BundledFile[]> {
  const folder = join(root, 'cli/import/python');
  const names = (await readdir(folder)).filter((name) => name.endsWith('.py')).sort();
  return Promise.all(
    names.map(async (name) => ({ path: `python/${name}`, contents: await readFile(join(folder, name)) })),
  );
}
