import { isObject, type WandbValue } from './wandb-values.ts';

/**
 * Names the media files of one run by their key and step, as the console groups them: `media/images/loss_12_<digest>.png`
 * becomes `media/images/loss_step_12.png`. Those of one key and step are numbered in the order in which they are named first,
 * which is the order of their list, and so of its captions, masks and boxes.
 */
export class MediaNames {
  readonly #names = new Map<string, string>();
  readonly #counts = new Map<string, number>();

  nameOf(path: string): string {
    const known = this.#names.get(path);
    if (known !== undefined) return known;
    const [, key, step, ending] = /^(media\/.+)_(\d+)_[0-9a-f]{20}((?:\.\w+)+)$/.exec(path) ?? [];
    if (key === undefined || step === undefined || ending === undefined) return path;
    const plain = `${key}_step_${step}${ending}`;
    const count = this.#counts.get(plain) ?? 0;
    const name = count === 0 ? plain : `${key}.${count}_step_${step}${ending}`;
    this.#counts.set(plain, count + 1);
    this.#names.set(path, name);
    return name;
  }

  /** Return a value with the names here of the files that it names. */
  inValue(value: WandbValue): WandbValue {
    if (typeof value === 'string') return value.startsWith('media/') ? this.nameOf(value) : value;
    if (Array.isArray(value)) return value.map((part) => this.inValue(part));
    if (!isObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, this.inValue(part)]));
  }
}
