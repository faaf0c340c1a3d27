import http from 'node:http';
import { fileURLToPath } from 'node:url';
import type { BuildOptions, ImportKind, Plugin } from 'esbuild';
import { buildApp } from '../../functions/console/build-app.ts';
import { buildCommandFiles } from '../../functions/service/build-command.ts';

/** Members of `node:http` that node makes when they are first touched, by loading its whole fetch implementation. */
const costly = new Set(['WebSocket', 'CloseEvent', 'MessageEvent']);

/** Kinds of imports: the SDK's clients import it when they make their first request. */
const kinds = new Set<ImportKind>(['import-statement', 'dynamic-import']);

/**
 * To import `node:http` touches every member of it, which takes 12 MB and 11 ms in every process; to ask for the
 * module itself does not.
 */
const leanHttp: Plugin = {
  name: 'lean-http',
  setup(build) {
    build.onResolve({ filter: /^(node:)?http$/ }, ({ kind }) =>
      kinds.has(kind) ? { path: 'http', namespace: 'lean-http' } : undefined,
    );
    build.onLoad({ filter: /^http$/, namespace: 'lean-http' }, () => {
      const names = Object.keys(http).filter((name) => !costly.has(name));
      return {
        contents: `const http = process.getBuiltinModule('node:http');\nexport default http;\nexport const { ${names.join(', ')} } = http;\n`,
        loader: 'js',
      };
    });
  },
};

/**
 * The package `yaml` gives node a CommonJS form, all of which runs when it is imported: 9 ms. Its ES modules, the same
 * sources, are published for browsers.
 */
const yamlModules: Plugin = {
  name: 'yaml-modules',
  setup(build) {
    build.onResolve({ filter: /^yaml$/ }, () => ({
      path: fileURLToPath(new URL('../browser/index.js', import.meta.resolve('yaml'))),
      sideEffects: false,
    }));
  },
};

/** Puts the built command into the bundle of the function that serves it, in the place of the module that builds it. */
const commandFiles: Plugin = {
  name: 'command-files',
  setup(build) {
    build.onLoad({ filter: /functions\/service\/command-files\.ts$/ }, async () => ({
      contents: `const built = ${JSON.stringify(await buildCommandFiles())};\nexport const commandFiles = async () => built;`,
      loader: 'js',
    }));
  },
};

/** Puts the built console into the bundle of the functions that serve it, in the place of the module that builds it. */
const consoleApp: Plugin = {
  name: 'console-app',
  setup(build) {
    build.onLoad({ filter: /functions\/console\/console-files\.ts$/ }, async () => ({
      contents: `const built = ${JSON.stringify(await buildApp())};\nexport const consoleFiles = async () => built;`,
      loader: 'js',
    }));
  },
};

/** How every program of the local run is bundled. */
export const bundleOptions = {
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node24',
  // ES modules of packages that come in both forms: only they are split and shaken.
  mainFields: ['module', 'main'],
  plugins: [leanHttp, yamlModules, commandFiles, consoleApp],
  sourcemap: 'linked',
  sourcesContent: false,
  minifyWhitespace: true,
  minifySyntax: true,
  legalComments: 'none',
  chunkNames: 'chunks/[hash]',
  // CommonJS packages within ES modules ask for node's own modules by require.
  banner: {
    js: "import { createRequire as requireOfBundle } from 'node:module'; const require = requireOfBundle(import.meta.url);",
  },
  logLevel: 'warning',
} satisfies BuildOptions;
