import type { ImportGraph } from './import-graph.ts';

/** The room that a module is in: the longest that its path begins with. */
function roomOf(module: string, layers: readonly (readonly string[])[]): string | undefined {
  const holding = layers.flat().filter((room) => module.startsWith(`${room}/`));
  return holding.sort((one, other) => other.length - one.length)[0];
}

/** Imports that do not lead down, each as `from -> to`, and modules in no room. */
export function upwardImports(graph: ImportGraph, layers: readonly (readonly string[])[]): string[] {
  const heightOf = (room: string): number => layers.findIndex((line) => line.includes(room));
  const faults: string[] = [];
  for (const [module, imported] of graph) {
    const room = roomOf(module, layers);
    if (room === undefined) faults.push(`${module} is in no room`);
    for (const target of imported.filter((path) => graph.has(path))) {
      const other = roomOf(target, layers);
      if (room === undefined || other === undefined || room === other) continue;
      if (heightOf(other) >= heightOf(room)) faults.push(`${module} -> ${target}`);
    }
  }
  return faults;
}

/** Circles of modules: each as the modules on it, in the order of the imports, beginning with the least. */
export function importCircles(graph: ImportGraph): string[][] {
  const circles: string[][] = [];
  const done = new Set<string>();
  const path: string[] = [];
  const visit = (module: string): void => {
    const start = path.indexOf(module);
    if (start !== -1) circles.push(fromLeast(path.slice(start)));
    if (start !== -1 || done.has(module)) return;
    path.push(module);
    for (const target of graph.get(module) ?? []) visit(target);
    path.pop();
    done.add(module);
  };
  for (const module of graph.keys()) visit(module);
  return circles;
}

function fromLeast(circle: readonly string[]): string[] {
  const least = circle.indexOf(circle.toSorted()[0] ?? '');
  return [...circle.slice(least), ...circle.slice(0, least)];
}
