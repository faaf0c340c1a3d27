import { join } from 'node:path';
import type { Plugin } from 'esbuild';
import { bundledEndpoints, endpointFiles } from '../../service/endpoints.ts';

/**
 * Makes one module of all endpoints: `modules` has each by its file. As entry points of their own they would be split
 * into as many chunks as there are sets of endpoints that share code: 700 files, which take Node a quarter of a second
 * to link.
 * @param root folder of the sources
 */
export const endpointModules = (root: string): Plugin => ({
  name: 'endpoint-modules',
  setup(build) {
    const filter = new RegExp(`^${bundledEndpoints}$`);
    build.onResolve({ filter }, ({ path }) => ({ path, namespace: 'endpoint-modules' }));
    build.onLoad({ filter, namespace: 'endpoint-modules' }, async () => {
      const folder = join(root, 'functions');
      const files = await endpointFiles(folder);
      const imports = files.map(
        (file, index) => `import * as module${index} from ${JSON.stringify(`./${file}`)};`,
      );
      const entries = files.map((file, index) => `${JSON.stringify(file)}: module${index}`);
      const contents = `${imports.join('\n')}\nexport const modules = { ${entries.join(', ')} };\n`;
      return { contents, loader: 'js', resolveDir: folder };
    });
  },
});
