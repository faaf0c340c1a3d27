import { dirname, join } from 'node:path';

const statement = /^(?:import|export)\s+(?<type>type\s)?(?<names>[^;']*?)from\s+'(?<path>\.[^']+)'/gm;

/** Whether an import statement names types alone: `import { type A, type B }`. */
function isOfTypes(names: string): boolean {
  const [, list] = /\{([^}]*)\}/.exec(names) ?? [];
  const each = (list ?? '').split(',').flatMap((name) => (name.trim() === '' ? [] : [name.trim()]));
  return each.length > 0 && each.every((name) => name.startsWith('type ')) && /^\s*\{/.test(names);
}

/** Modules that a module imports for their values, as paths from the root. Imports of types alone are left out. */
export function importedModules(path: string, text: string): string[] {
  return [...text.matchAll(statement)].flatMap(({ groups = {} }) => {
    const { type, names = '', path: specifier = '' } = groups;
    if (type !== undefined || isOfTypes(names)) return [];
    return [join(dirname(path), specifier).replaceAll('\\', '/')];
  });
}

/** Imports of values from one resource of `functions` to another, each as `from -> to`. */
export function sidewaysImports(texts: ReadonlyMap<string, string>): string[] {
  const resource = (path: string) => /^functions\/([^/]+)\//.exec(path)?.[1];
  return [...texts].flatMap(([path, text]) => {
    const own = resource(path);
    if (own === undefined) return [];
    const others = importedModules(path, text).filter(
      (target) => ![own, undefined].includes(resource(target)),
    );
    return others.map((target) => `${path} -> ${target}`);
  });
}
