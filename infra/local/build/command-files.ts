import type { Plugin } from 'esbuild';
import { buildCommandFiles } from '../../../functions/service/build-command.ts';

/** Puts the built command into the bundle of the function that serves it, in the place of the module that builds it. */
export const commandFiles: Plugin = {
  name: 'command-files',
  setup(build) {
    build.onLoad({ filter: /functions\/service\/command-files\.ts$/ }, async () => ({
      contents: `const built = ${JSON.stringify(await buildCommandFiles())};\nexport const commandFiles = async () => built;`,
      loader: 'js',
    }));
  },
};
