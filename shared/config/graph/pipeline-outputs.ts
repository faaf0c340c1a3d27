/** A folder that thousands of stages write into, and thousands depend on, would have millions of edges. */
const maxProducersBelow = 20_000;

/**
 * The stage that makes each file. As in DVC, a stage also depends on the maker of a folder above, or of files below,
 * the path that it names.
 */
export class PipelineOutputs {
  readonly #makers = new Map<string, string>();
  readonly #below = new Map<string, Set<string>>();
  #answeredBelow = 0;

  /** Records an output; the first stage that names it is its maker. */
  add(path: string, stage: string): void {
    if (this.#makers.has(path)) return;
    this.#makers.set(path, stage);
    for (const folder of foldersAbove(path)) {
      const makers = this.#below.get(folder) ?? new Set();
      this.#below.set(folder, makers.add(stage));
    }
  }

  /** The stages that make what a dependency names; the asking stage only when it makes just that. */
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

/** Longer paths are compared as they are, without the folders they lie in. */
const maxPathLength = 1000;

/** The folders that a path lies in, the nearest first. */
function foldersAbove(path: string): string[] {
  if (path.length > maxPathLength) return [];
  const folders: string[] = [];
  for (let slash = path.lastIndexOf('/'); slash > 0; slash = path.lastIndexOf('/', slash - 1))
    folders.push(path.slice(0, slash));
  return folders;
}
