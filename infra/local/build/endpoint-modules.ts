import { glob } from 'node:fs/promises';
import { join } from 'node:path';
import type { Plugin } from 'esbuild';

/** What the bundle names the one module that holds all endpoints, and where its text lies in the bundle. */
export const endpointModules = { name: 'endpoint-modules', out: 'functions/endpoints' };

/**
 * Makes one module of all endpoints: `modules` has each by its file. As entry points of their own they would be split
 * into as many chunks as there are sets of endpoints that share code: 700 files, which take Node a quarter of a second
 * to link.
 * @param root folder of the sources
 */
export const endpointModulesOf = (root: string): Plugin => ({
  name: endpointModules.name,
  setup(build) {
    const filter = new RegExp(`^${endpointModules.name}$`);
    build.onResolve({ filter }, ({ path }) => ({ path, namespace: endpointModules.name }));
    build.onLoad({ filter, namespace: endpointModules.name }, async () => {
      const cwd = join(root, 'functions');
      const files = (await Array.fromAsync(glob('**/*.endpoint.ts', { cwd }))).sort();
      const imports = files.map(
        (file, index) => `import * as module${index} from ${JSON.stringify(`./${file}`)};`,
      );
      const entries = files.map((file, index) => `${JSON.stringify(file)}: module${index}`);
      const contents = `${imports.join('\n')}\nexport const modules = { ${entries.join(', ')} };\n`;
      return { contents, loader: 'js', resolveDir: cwd };
    });
  },
});
