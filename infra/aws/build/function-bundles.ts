import { stat } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { build, type ImportKind, type Metafile, type Plugin } from 'esbuild';
import type { MethodTable } from '../../../functions/service/any-method.ts';
import { bundleOptions } from '../../service/bundle-options.ts';

/**
 * Bundle functions for Lambda in one pass, each into its own file below `folder`. Also bundle the function that
 * handles all other methods.
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
      ...entries.flatMap(({ name, programs }) =>
        Object.entries(programs).map(([program, file]) => [`${name}/${program}`, file]),
      ),
      [`${anyMethodName}/index`, anyMethodName],
    ]),
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    plugins: [anyMethodEntry(methods), endpointEntries, functionsSdk, purePackages, ...plugins],
    external,
    splitting: false,
    minify: true,
    sourcemap: false,
    metafile: true,
  });
  const byName = Map.groupBy(Object.entries(metafile.outputs), ([path]) => path.split('/').at(-2));
  return Promise.all(
    [...entries.map(({ name }) => name), anyMethodName].map(async (name) => {
      const own = join(folder, name);
      const { size } = await stat(join(own, 'index.mjs'));
      return { name, folder: own, bytes: size, imports: packagesOf(byName.get(name) ?? []) };
    }),
  );
}

/** A function to bundle. */
interface BundleEntry {
  name: string;
  /** Source file, relative to the project folder. */
  file: string;
  /** Packages that are not bundled but installed next to the bundle. */
  native: readonly string[];
  /** Source files of programs that it starts, by their names; they are bundled next to it. */
  programs: Readonly<Record<string, string>>;
}

/** The bundle of one function: a folder with `index.mjs` and the programs that it starts. */
export interface FunctionBundle {
  name: string;
  folder: string;
  /** Size of the JavaScript. */
  bytes: number;
  /** Packages that it imports from its folder. */
  imports: readonly string[];
}

/** Name of the function that handles methods without an endpoint. */
export const anyMethodName = 'anyMethod';

/** Embed the methods of every route, known only at build time, in the function that handles all other methods. */
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

/** Make the Lambda handler of each endpoint. */
const endpointEntries: Plugin = {
  name: 'endpoint-entries',
  setup({ onResolve, onLoad, initialOptions: { absWorkingDir = '' } }) {
    onResolve({ filter: /\.endpoint\.ts$/ }, ({ kind, path }) =>
      kind === 'entry-point' ? { path, namespace: 'endpoint-entries' } : undefined,
    );
    onLoad({ filter: /.*/, namespace: 'endpoint-entries' }, ({ path }) => ({
      contents: `import { lambda } from './shared/http/pipeline/lambda.ts';
import { endpoint } from ${JSON.stringify(`./${path}`)};
export const handler = lambda(endpoint);`,
      loader: 'ts',
      resolveDir: absWorkingDir,
    }));
  },
};

/** Remove parts of the AWS SDK that functions in Lambda cannot use. They would be parsed at each cold start. */
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
    // Lambda sets the role's credentials in the environment. The SDK's own chain would also try files, processes
    // and servers, and so adds the clients of four more services.
    module: /^@aws-sdk\/credential-provider-node$/,
    kind: 'import-statement',
    contents: `export { fromEnv as defaultProvider } from '@aws-sdk/credential-provider-env';`,
  },
  {
    // Only operations that stream events load this module, and no port of shared/aws has such an operation.
    module: /^@smithy\/core\/event-streams$/,
    kind: 'dynamic-import',
    contents: `throw new Error('no operation here streams events');`,
  },
];

/** An import within the AWS SDK, and the module that replaces it in a Lambda function. */
interface Replacement {
  module: RegExp;
  kind: ImportKind;
  contents: string;
}

/** Parts of the AWS SDK that have no side effects but do not declare this. */
const undeclared = /[\\/]@aws-sdk[\\/]lib-(dynamodb|storage)[\\/]/;

/** Mark packages without side effects that do not declare this, so that bundles omit their unused code. */
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

const packagesOf = (outputs: readonly [path: string, output: Metafile['outputs'][string]][]): string[] => [
  ...new Set(
    outputs
      .flatMap(([, { imports }]) => imports)
      .filter(({ external, path }) => external === true && !isBuiltin(path))
      .map(({ path }) => path),
  ),
];
