/** Folders that are named after what was measured. */
const parts: Readonly<Record<string, 'train' | 'val' | 'test'>> = {
  train: 'train',
  training: 'train',
  val: 'val',
  valid: 'val',
  validation: 'val',
  eval: 'val',
  test: 'test',
};

const noMetrics = new Set(['epoch', 'step', 'global_step']);

/** Whether a name is one of Hugging Face's facts about a run, which are no metrics. */
export const isOfRun = (name: string): boolean =>
  /(?:^|[_/])(?:runtime|total_flos|\w+_per_second)$/.test(name);

/**
 * Names the scalars of several event files. Each folder of a log directory is a run of TensorBoard: its own name counts
 * where it says what was measured, and where two folders have the same tag.
 */
export class EventNames {
  readonly #folders = new Set<string>();
  /** Folder and tag of the scalar that has a name. */
  readonly #owners = new Map<string, string>();

  /** Note an event file. */
  add(file: string): void {
    this.#folders.add(folderOf(file));
  }

  /** Return the name of a scalar; undefined for those that are no metric. */
  nameOf(file: string, tag: string, value: number): string | undefined {
    // Lightning writes this value before there is any.
    if (noMetrics.has(baseOf(tag)) || isOfRun(tag) || (tag === 'hp_metric' && value === -1)) return undefined;
    const folder = folderOf(file);
    const own = baseOf(folder);
    const part = parts[own.toLowerCase()];
    if (part !== undefined) return this.#unlike(folder, tag, ofPart(part, own, tag), folderOf(folder));
    // `add_scalars` makes a folder of each of its lines: PyTorch `loss_a`, tensorboardX `loss/a`.
    const isLine = own !== tag && own.startsWith(`${tag.replaceAll('/', '_')}_`);
    if (isLine && this.#folders.has(folderOf(folder)))
      return this.#unlike(folder, tag, own, folderOf(folder));
    const line = `/${tag}/${own}`;
    const above = `/${folder}`.endsWith(line) ? folder.slice(0, -line.length) : undefined;
    if (above !== undefined && this.#folders.has(above))
      return this.#unlike(folder, tag, line.slice(1), above);
    return this.ownName(folder, tag);
  }

  /** Return a name as it is for the first folder that has it, and with the folder's name for others. */
  ownName(folder: string, name: string): string {
    return this.#unlike(folder, name, name, folder);
  }

  /** Return a name of the picture, text or the like of a folder. */
  mediaName(folder: string, tag: string): string {
    const part = baseOf(folder);
    if (parts[part.toLowerCase()] === undefined) return this.ownName(folder, tag);
    return this.#unlike(folder, tag, `${part}/${tag}`, folderOf(folder));
  }

  /** Return a name, for others than the first with as many of the folders above as tell it from those before. */
  #unlike(folder: string, tag: string, name: string, above: string): string {
    const owner = `${folder}\0${tag}`;
    let unlike = name;
    for (let rest = above; ; rest = folderOf(rest)) {
      const known = this.#owners.get(unlike) ?? owner;
      if (this.#owners.size < maxNames) this.#owners.set(unlike, known);
      if (known === owner || rest === '') return unlike;
      unlike = `${baseOf(rest)}/${unlike}`;
    }
  }
}

const maxNames = 10_000;

/** Keras writes `epoch_loss` for both parts, which it prints as `loss` and `val_loss`. */
function ofPart(part: 'train' | 'val' | 'test', folder: string, tag: string): string {
  const [, name] = /^epoch_(.+)$/.exec(tag) ?? [];
  if (name === undefined) return `${folder}/${tag}`;
  return part === 'train' ? name : `${part}_${name}`;
}

export const folderOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')));

const baseOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);
