import { stat } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { build, type Metafile, type Plugin } from 'esbuild';
import type { MethodTable } from '../../../functions/service/any-method.ts';
import { bundleOptions } from '../../local/build/bundle-options.ts';
import { functionsSdk } from './functions-sdk.ts';
import { purePackages } from './pure-packages.ts';

/** Name of the function that handles the methods without an endpoint. */
export const anyMethodName = 'anyMethod';

/** A function to bundle. */
export interface BundleEntry {
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

const packagesOf = (output: Metafile['outputs'][string] | undefined): string[] =>
  (output?.imports ?? [])
    .filter(({ external, path }) => external === true && !isBuiltin(path))
    .map(({ path }) => path);

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
