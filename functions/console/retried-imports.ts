import { basename, join } from 'node:path';
import type { Plugin } from 'rolldown';

const dynamicImport = /\bimport\('([^']+)'\)/g;

const nameOf = (path: string): string => basename(path).split('.')[0] ?? '';

/**
 * Make every `import('…')` of the console load its files through `app/ui/load-part.ts`, which retries. A browser
 * requests a module only once, and some remember a failure until the page is closed. `modules` receives the module
 * of each part by name.
 */
export function retriedImports(folder: string, modules: Map<string, string>): Plugin {
  const loader = join(folder, 'ui/load-part.ts');
  return {
    name: 'retried-imports',
    async transform(code, id) {
      if (!id.startsWith(folder)) return undefined;
      const paths = Array.from(code.matchAll(dynamicImport), ([, path = '']) => path);
      if (paths.length === 0) return undefined;
      for (const path of paths) {
        const module = (await this.resolve(path, id))?.id ?? path;
        if ((modules.get(nameOf(path)) ?? module) !== module)
          throw new Error(`two parts of the console are named ${nameOf(path)}`);
        modules.set(nameOf(path), module);
      }
      const retried = code.replace(
        dynamicImport,
        (whole, path: string) => `loadPart(${JSON.stringify(nameOf(path))}, () => ${whole})`,
      );
      return { code: `import { loadPart } from ${JSON.stringify(loader)};\n${retried}`, map: null };
    },
  };
}
