import http from 'node:http';
import { fileURLToPath } from 'node:url';
import type { BuildOptions, ImportKind, Plugin } from 'esbuild';
import { buildApp } from '../../functions/console/build-app.ts';
import { buildCommandFiles } from '../../functions/service/build-command.ts';
import { exporterFiles } from '../../shared/exports/program/exporter-files.ts';
import { trackerSources } from '../../shared/runner/trackers/tracker-sources.ts';

/** Lazy members of `node:http`. Accessing one loads Node's whole fetch implementation. */
const costly = new Set(['WebSocket', 'CloseEvent', 'MessageEvent']);

/** Kinds of imports that the plugin replaces. The SDK's clients import `node:http` at their first request. */
const kinds = new Set<ImportKind>(['import-statement', 'dynamic-import']);

/**
 * Importing `node:http` accesses every member of it, which takes 12 MB and 11 ms in every process. Requesting the
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
 * Use the ES modules of the package `yaml`, which it publishes for browsers from the same sources. Its CommonJS
 * form for Node runs completely at import, which takes 9 ms.
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

/** Bundle the built command into the function that serves it. It replaces the module that builds it. */
const commandFiles: Plugin = {
  name: 'command-files',
  setup(build) {
    build.onLoad({ filter: /functions\/service\/command-files\.ts$/ }, async () => ({
      contents: `const built = ${JSON.stringify(await buildCommandFiles())};\nexport const commandFiles = async () => built;`,
      loader: 'js',
    }));
  },
};

/** Bundle the built console into the functions that serve it. It replaces the module that builds it. */
const consoleApp: Plugin = {
  name: 'console-app',
  setup(build) {
    build.onLoad({ filter: /functions\/console\/console-files\.ts$/ }, async () => ({
      contents: `const built = ${JSON.stringify(await buildApp())};\nexport const consoleFiles = async () => built;`,
      loader: 'js',
    }));
  },
};

/** Bundle the Python modules that stand in for trackers. They replace the module that reads them. */
const trackerModules: Plugin = {
  name: 'tracker-modules',
  setup(build) {
    build.onLoad({ filter: /shared\/runner\/trackers\/tracker-sources\.ts$/ }, async () => ({
      contents: `const sources = ${JSON.stringify(await trackerSources())};\nexport const trackerSources = async () => sources;`,
      loader: 'js',
    }));
  },
};

/** Bundle the files of the exporter. They replace the module that reads them. */
const exporter: Plugin = {
  name: 'exporter',
  setup(build) {
    build.onLoad({ filter: /shared\/exports\/program\/exporter-files\.ts$/ }, async () => ({
      contents: `const files = ${JSON.stringify(await exporterFiles())};\nexport const exporterFiles = async () => files;`,
      loader: 'js',
    }));
  },
};

/** Bundler options of every program of the local run. */
export const bundleOptions = {
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node24',
  // Prefer ES modules in packages with both forms: the bundler splits and tree-shakes only those.
  mainFields: ['module', 'main'],
  plugins: [leanHttp, yamlModules, commandFiles, consoleApp, trackerModules, exporter],
  sourcemap: 'linked',
  sourcesContent: false,
  minifyWhitespace: true,
  minifySyntax: true,
  legalComments: 'none',
  chunkNames: 'chunks/[hash]',
  // CommonJS packages within ES modules load Node's modules with `require`.
  banner: {
    js: "import { createRequire as requireOfBundle } from 'node:module'; const require = requireOfBundle(import.meta.url);",
  },
  logLevel: 'warning',
} satisfies BuildOptions;
