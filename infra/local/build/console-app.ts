import type { Plugin } from 'esbuild';
import { buildApp } from '../../../functions/console/build-app.ts';

/** Puts the built console into the bundle of the functions that serve it, in the place of the module that builds it. */
export const consoleApp: Plugin = {
  name: 'console-app',
  setup(build) {
    build.onLoad({ filter: /functions\/console\/console-files\.ts$/ }, async () => ({
      contents: `const built = ${JSON.stringify(await buildApp())};\nexport const consoleFiles = async () => built;`,
      loader: 'js',
    }));
  },
};
