import type { BuildOptions } from 'esbuild';
import { commandFiles } from './command-files.ts';
import { consoleApp } from './console-app.ts';
import { leanHttp } from './lean-http.ts';
import { yamlModules } from './yaml-modules.ts';

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
