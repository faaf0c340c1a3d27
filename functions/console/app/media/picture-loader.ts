import { signal } from '@preact/signals';
import { openArtifact } from '../api/experiments.ts';
import { type FileOfExperiment, readFiles } from '../api/media.ts';

/** Picture that is wanted, with its bytes as the list of media reports them. */
export interface WantedPicture extends FileOfExperiment {
  size: number;
}

/** Limits of a request that reads several files (`read-artifacts.endpoint.ts`). */
const maxFiles = 200;
const maxBytes = 3_000_000;
/** Milliseconds between two requests. */
const pause = 500;
/** Characters of all pictures that are kept. */
const maxKept = 128_000_000;

/** Picture that was read: its URL, or that it cannot be shown. */
type Read = { url: string } | { fault: string };

const keyOf = ({ experiment_id, path }: FileOfExperiment): string => `${experiment_id} ${path}`;

/** Lists the pictures that tiles show, and those to load ahead of the slider, the most wanted first. */
type Wanted = () => { shown: readonly WantedPicture[]; ahead: readonly WantedPicture[] };

const nothing: Wanted = () => ({ shown: [], ahead: [] });

/**
 * Loads pictures of a project: many with one request, at most two requests a second, the most wanted first. A slider
 * changes what is wanted many times a second.
 */
export class PictureLoader {
  /** Number of answers. Pictures are drawn again when it grows. */
  readonly answers = signal(0);
  readonly #project_id: string;
  readonly #read = new Map<string, Read>();
  #wanted = nothing;
  #kept = 0;
  #isBusy = false;
  #next = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(project_id: string) {
    this.#project_id = project_id;
  }

  get(file: FileOfExperiment): Read | undefined {
    return this.#read.get(keyOf(file));
  }

  /** Say what is wanted. It is listed only for a request, because a slider changes it with every frame. */
  want(files: Wanted): void {
    this.#wanted = files;
    this.#plan();
  }

  /** Forget everything. */
  end(): void {
    clearTimeout(this.#timer);
    this.#wanted = nothing;
    for (const read of this.#read.values())
      if ('url' in read && read.url.startsWith('blob:')) URL.revokeObjectURL(read.url);
    this.#read.clear();
  }

  #plan(): void {
    if (this.#isBusy || this.#timer !== undefined) return;
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined;
        void this.#load();
      },
      Math.max(0, this.#next - performance.now()),
    );
  }

  /** Choose the files of the next request. */
  #choose(): WantedPicture[] {
    const chosen = new Map<string, WantedPicture>();
    let bytes = 0;
    const { shown, ahead } = this.#wanted();
    // The first screen does not wait for pictures that nobody sees yet.
    for (const file of this.answers.peek() === 0 ? shown : [...shown, ...ahead]) {
      const key = keyOf(file);
      if (this.#read.has(key) || chosen.has(key)) continue;
      if (chosen.size > 0 && bytes + file.size > maxBytes) break;
      bytes += file.size;
      chosen.set(key, file);
      if (chosen.size === maxFiles) break;
    }
    return [...chosen.values()];
  }

  async #load(): Promise<void> {
    const files = this.#choose();
    const [first] = files;
    if (first === undefined) return;
    this.#isBusy = true;
    this.#next = performance.now() + pause;
    try {
      if (first.size > maxBytes) await this.#loadLarge(first);
      else
        for (const { state, media_type, content, ...file } of await readFiles(
          this.#project_id,
          files.map(({ experiment_id, path }) => ({ experiment_id, path })),
        )) {
          if (state === 'left') continue;
          this.#keep(
            file,
            content === null
              ? { fault: state === 'missing' ? 'The file is gone' : 'The file is too large' }
              : { url: `data:${media_type};base64,${content}` },
          );
        }
    } catch {
      // The service is away or refused. Try again after a longer pause.
      this.#next = performance.now() + 4 * pause;
    }
    this.#isBusy = false;
    this.answers.value += 1;
    this.#plan();
  }

  async #loadLarge(file: WantedPicture): Promise<void> {
    const response = await openArtifact({ ...file, project_id: this.#project_id }, file.path);
    this.#keep(file, { url: URL.createObjectURL(await response.blob()) });
  }

  #keep(file: FileOfExperiment, read: Read): void {
    this.#read.set(keyOf(file), read);
    this.#kept += 'url' in read ? read.url.length : 0;
    if (this.#kept <= maxKept) return;
    const { shown, ahead } = this.#wanted();
    const wanted = new Set([...shown, ...ahead].map(keyOf));
    for (const [key, old] of this.#read) {
      if (this.#kept <= maxKept) return;
      if (wanted.has(key)) continue;
      this.#read.delete(key);
      if ('url' in old) this.#kept -= old.url.length;
    }
  }
}
