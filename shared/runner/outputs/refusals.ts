/** How many files that are not kept are named. */
const maxNamed = 20;

/** The files of a folder that are not kept, with the reasons. */
export class Refusals {
  readonly #reasons = new Map<string, string>();

  /** A blank path stands for the whole folder: its walk ended early. */
  add(path: string, why: string): void {
    this.#reasons.set(path, why);
  }

  /** Whether a path may be there although the walk did not come to it. */
  hide(path: string): boolean {
    if (this.#reasons.has('')) return true;
    for (let slash = path.indexOf('/'); slash !== -1; slash = path.indexOf('/', slash + 1)) {
      if (this.#reasons.has(path.slice(0, slash))) return true;
    }
    return false;
  }

  /** Report each path in a line, up to a limit. */
  report(folder: string, say: (message: string) => void): void {
    const whole = this.#reasons.get('');
    if (whole !== undefined) say(`${folder}: not all of it is kept, because ${whole}.`);
    const named = [...this.#reasons].filter(([path]) => path !== '');
    for (const [path, why] of named.slice(0, maxNamed))
      say(`${folder}: ${JSON.stringify(path)} is not kept: ${why}.`);
    if (named.length > maxNamed) say(`${folder}: ${named.length - maxNamed} more are not kept.`);
  }
}
