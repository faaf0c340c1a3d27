/**
 * Most edges of a graph to producers below folders. A folder with thousands of producers and consumers would have
 * millions of edges.
 */
const maxProducersBelow = 20_000;

/**
 * Map of each file to the stage that makes it. As in DVC, a stage that names a path also depends on the maker of a
 * folder above it, or of files below it.
 */
export class PipelineOutputs {
  readonly #makers = new Map<string, string>();
  readonly #below = new Map<string, Set<string>>();
  #answeredBelow = 0;

  /** Record an output. The first stage that names it is its maker. */
  add(path: string, stage: string): void {
    if (this.#makers.has(path)) return;
    this.#makers.set(path, stage);
    for (const folder of foldersAbove(path)) {
      const makers = this.#below.get(folder) ?? new Set();
      this.#below.set(folder, makers.add(stage));
    }
  }

  /** Return the stages that make a dependency. Include the asking stage only if it makes exactly this path. */
  producers(path: string, asking: string): string[] {
    const maker = this.#makers.get(path);
    if (maker !== undefined) return [maker];
    for (const folder of foldersAbove(path)) {
      const above = this.#makers.get(folder);
      if (above !== undefined) return above === asking ? [] : [above];
    }
    const below = [...(this.#below.get(path) ?? [])].filter((stage) => stage !== asking);
    this.#answeredBelow += below.length;
    return this.#answeredBelow > maxProducersBelow ? [] : below;
  }
}

/** Most characters of a path whose parent folders are compared. Longer paths only match exactly. */
const maxPathLength = 1000;

/** Return the parent folders of a path, the nearest first. */
function foldersAbove(path: string): string[] {
  if (path.length > maxPathLength) return [];
  const folders: string[] = [];
  for (let slash = path.lastIndexOf('/'); slash > 0; slash = path.lastIndexOf('/', slash - 1))
    folders.push(path.slice(0, slash));
  return folders;
}
