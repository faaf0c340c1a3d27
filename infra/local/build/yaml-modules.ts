import { fileURLToPath } from 'node:url';
import type { Plugin } from 'esbuild';

/**
 * The package `yaml` gives node a CommonJS form, all of which runs when it is imported: 9 ms. Its ES modules, the same
 * sources, are published for browsers.
 */
export const yamlModules: Plugin = {
  name: 'yaml-modules',
  setup(build) {
    build.onResolve({ filter: /^yaml$/ }, () => ({
      path: fileURLToPath(new URL('../browser/index.js', import.meta.resolve('yaml'))),
      sideEffects: false,
    }));
  },
};
