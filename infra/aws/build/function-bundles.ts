import { stat } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { build, type ImportKind, type Metafile, type Plugin } from 'esbuild';
import type { MethodTable } from '../../../functions/service/any-method.ts';
import { bundleOptions } from '../../service/bundle-options.ts';

/**
 * Bundles functions for Lambda, each into one file of its own below `folder`, in one pass; and with them the function
 * that handles all other methods.
 *
 * @param root folder of the project
 */
export async function bundleFunctions(
  root: string,
  folder: string,
  entries: readonly BundleEntry[],
  methods: MethodTable,
): Promise<FunctionBundle[]> {
  const external = [...new Set(entries.flatMap(({ native }) => native))];
  const { plugins, ...options } = bundleOptions;
  const { metafile } = await build({
    ...options,
    absWorkingDir: root,
    entryPoints: Object.fromEntries([
      ...entries.map(({ name, file }) => [`${name}/index`, file]),
      [`${anyMethodName}/index`, anyMethodName],
    ]),
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    plugins: [anyMethodEntry(methods), functionsSdk, purePackages, ...plugins],
    external,
    splitting: false,
    minify: true,
    sourcemap: false,
    metafile: true,
  });
  const byName = new Map(
    Object.entries(metafile.outputs).map(([path, output]) => [path.split('/').at(-2), output]),
  );
  return Promise.all(
    [...entries.map(({ name }) => name), anyMethodName].map(async (name) => {
      const own = join(folder, name);
      const { size } = await stat(join(own, 'index.mjs'));
      return { name, folder: own, bytes: size, imports: packagesOf(byName.get(name)) };
    }),
  );
}

/** A function to bundle. */
interface BundleEntry {
  name: string;
  /** Source file, relative to the project's folder. */
  file: string;
  /** Packages that stay imports and are installed beside the bundle. */
  native: readonly string[];
}

/** The bundle of one function: a folder with the one file `index.mjs`. */
export interface FunctionBundle {
  name: string;
  folder: string;
  /** Of JavaScript. */
  bytes: number;
  /** Packages that it imports from beside it. */
  imports: readonly string[];
}

/** Name of the function that handles the methods without an endpoint. */
export const anyMethodName = 'anyMethod';

/** The methods of every route are known only here, and become part of the function that handles the others. */
const anyMethodEntry = (table: MethodTable): Plugin => ({
  name: anyMethodName,
  setup({ onResolve, onLoad, initialOptions: { absWorkingDir = '' } }) {
    onResolve({ filter: new RegExp(`^${anyMethodName}$`) }, () => ({
      path: anyMethodName,
      namespace: anyMethodName,
    }));
    onLoad({ filter: /.*/, namespace: anyMethodName }, () => ({
      contents: `import { anyMethod } from './functions/service/any-method.ts';
export const handler = anyMethod(${JSON.stringify(table)});`,
      loader: 'ts',
      resolveDir: absWorkingDir,
    }));
  },
});

/** Leaves out of the AWS SDK what no function in the cloud can use, all of which it would parse at each cold start. */
const functionsSdk: Plugin = {
  name: 'functions-sdk',
  setup({ onResolve, onLoad }) {
    for (const [index, { module, kind, contents }] of replacements.entries()) {
      const namespace = `functions-sdk-${index}`;
      onResolve({ filter: module }, ({ path, resolveDir, ...from }) =>
        from.kind === kind ? { path, namespace, pluginData: resolveDir } : undefined,
      );
      onLoad({ filter: /.*/, namespace }, ({ pluginData }) => ({ contents, resolveDir: String(pluginData) }));
    }
  },
};

const replacements: readonly Replacement[] = [
  {
    // Lambda puts the role's credentials into the environment. The SDK's own chain would also ask files, processes and
    // servers for them, and so brings the clients of four more services.
    module: /^@aws-sdk\/credential-provider-node$/,
    kind: 'import-statement',
    contents: `export { fromEnv as defaultProvider } from '@aws-sdk/credential-provider-env';`,
  },
  {
    // Loaded by operations that stream events alone, and no port of shared/aws has such an operation.
    module: /^@smithy\/core\/event-streams$/,
    kind: 'dynamic-import',
    contents: `throw new Error('no operation here streams events');`,
  },
];

/** An import within the AWS SDK, and the module that it finds in a function of the cloud. */
interface Replacement {
  module: RegExp;
  kind: ImportKind;
  contents: string;
}

/** Parts of the AWS SDK that do nothing when they are imported and, unlike the others, do not say so. */
const undeclared = /[\\/]@aws-sdk[\\/]lib-(dynamodb|storage)[\\/]/;

/** Packages without side effects that do not declare it, so that bundles leave out their unused code. */
export const purePackages: Plugin = {
  name: 'pure-packages',
  setup(build) {
    build.onResolve({ filter: /^(\.|@aws-sdk\/lib-)/ }, async ({ path, pluginData, ...from }) => {
      if (pluginData === purePackages) return undefined;
      if (path.startsWith('.') && !undeclared.test(from.importer)) return undefined;
      const found = await build.resolve(path, { ...from, pluginData: purePackages });
      return undeclared.test(found.path) ? { path: found.path, sideEffects: false } : undefined;
    });
  },
};

const packagesOf = (output: Metafile['outputs'][string] | undefined): string[] =>
  (output?.imports ?? [])
    .filter(({ external, path }) => external === true && !isBuiltin(path))
    .map(({ path }) => path);
