/** What a `setup.cfg` or `setup.py` declares. Undefined is what it does not declare, or computes. */
export interface SetupFile {
  requirements: string[] | undefined;
  /** Requirement lines of each extra, by its name. */
  extras: Readonly<Record<string, readonly string[]>> | undefined;
  /** Allowed versions of Python, as in `>=3.10`. */
  python: string | undefined;
}

/**
 * Read a `setup.cfg`: `install_requires` and `python_requires` of `[options]`, and `[options.extras_require]`.
 *
 * @example readSetupCfg('[options]\ninstall_requires =\n  numpy\n  scipy>=1').requirements // ['numpy', 'scipy>=1']
 */
export function readSetupCfg(content: string): SetupFile {
  const sections = readSections(content);
  const options = sections.get('options');
  return {
    requirements: options?.get('install_requires'),
    extras: Object.fromEntries(sections.get('options.extras_require') ?? []),
    python: options?.get('python_requires')?.join(','),
  };
}

/** Read the lines of each key of each section, without comments and blank lines. */
function readSections(content: string): Map<string, Map<string, string[]>> {
  const sections = new Map<string, Map<string, string[]>>();
  let keys = new Map<string, string[]>();
  let lines: string[] | undefined;
  for (const raw of content.split(/\r\n|\n|\r/)) {
    const line = raw.replace(/^\s*[#;].*$|\s#.*$/, '').trimEnd();
    if (line.trim() === '') continue;
    const header = /^\[([^\]]+)\]/.exec(line)?.[1]?.trim();
    const [, key, value = ''] = /^([\w.-]+)\s*[=:]\s*(.*)$/.exec(line) ?? [];
    // A continuation of the former key begins with white space.
    if (/^\s/.test(line)) lines?.push(line.trim());
    else if (header !== undefined) {
      keys = sections.get(header) ?? new Map();
      sections.set(header, keys);
      lines = undefined;
    } else if (key !== undefined) {
      lines = value === '' ? [] : [value];
      keys.set(key, lines);
    }
  }
  return sections;
}

/**
 * Read a `setup.py` whose `install_requires`, `extras_require` and `python_requires` are literal, there or in a variable
 * of the module. The file is not run: it is code of the project.
 *
 * @example readSetupPy('setup(install_requires=["numpy", "scipy>=1"])').requirements // ['numpy', 'scipy>=1']
 */
export function readSetupPy(content: string): SetupFile {
  const python = /^(["'])([^"'\\\n]*)\1/.exec(keywordValue(content, 'python_requires') ?? '')?.[2];
  return {
    requirements: literalList(keywordValue(content, 'install_requires') ?? ''),
    extras: literalLists(keywordValue(content, 'extras_require') ?? ''),
    python,
  };
}

/** Whether a `setup.py` names packages in any way, if only by code. */
export const namesPackages = (setupPy: string): boolean =>
  /\binstall_requires\b|\*\*|\bpbr\b/.test(setupPy.replaceAll(/#.*/g, ''));

/** Return the source text that follows `keyword=`; if the value is a variable, the text that follows its assignment. */
function keywordValue(content: string, keyword: string): string | undefined {
  const match = new RegExp(String.raw`\b${keyword}\s*=\s*(?=\S)`).exec(content);
  if (match === null) return undefined;
  const value = content.slice(match.index + match[0].length);
  const variable = /^([A-Za-z_]\w*)\s*[,)\n]/.exec(value)?.[1];
  if (variable === undefined) return value;
  const assigned = new RegExp(String.raw`^${variable}\s*=\s*(?=\S)`, 'm').exec(content);
  return assigned === null ? undefined : content.slice(assigned.index + assigned[0].length);
}

/**
 * Read the list of plain strings at the beginning of a text; undefined if there is none. A hand-written scan takes time
 * proportional to the text, whatever a stranger's file holds.
 */
const literalList = (text: string): string[] | undefined => new Literal(text).list();

/** Read the dictionary of lists at the beginning of a text; undefined if there is none. */
const literalLists = (text: string): Record<string, string[]> | undefined => new Literal(text).lists();

/** A literal of Python at the beginning of a text. Whatever is not plain makes it undefined. */
class Literal {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  list(): string[] | undefined {
    if (!this.#take('[')) return undefined;
    const found: string[] = [];
    while (!this.#take(']')) {
      const one = this.#string();
      if (one === undefined) return undefined;
      found.push(one);
      if (!this.#take(',') && !this.#sees(']')) return undefined;
    }
    return found;
  }

  lists(): Record<string, string[]> | undefined {
    if (!this.#take('{')) return undefined;
    const found: [string, string[]][] = [];
    while (!this.#take('}')) {
      const name = this.#string();
      const list = name !== undefined && this.#take(':') ? this.list() : undefined;
      if (name === undefined || list === undefined) return undefined;
      found.push([name, list]);
      if (!this.#take(',') && !this.#sees('}')) return undefined;
    }
    return Object.fromEntries(found);
  }

  /** Go on behind a character, with the white space and comments in front of it. */
  #take(character: string): boolean {
    if (!this.#sees(character)) return false;
    this.#at += 1;
    return true;
  }

  #sees(character: string): boolean {
    this.#skip();
    return this.#text[this.#at] === character;
  }

  #skip(): void {
    blank.lastIndex = this.#at;
    blank.test(this.#text);
    this.#at = blank.lastIndex;
  }

  /** Read a string without escapes. */
  #string(): string | undefined {
    this.#skip();
    plainString.lastIndex = this.#at;
    const [whole, single, double] = plainString.exec(this.#text) ?? [];
    if (whole === undefined) return undefined;
    this.#at += whole.length;
    return single ?? double;
  }
}

/** White space and whole comments. Each character can only be one of them. */
const blank = /(?:\s|#[^\n]*(?:\n|$))*/y;

const plainString = /'([^'\\\n]*)'|"([^"\\\n]*)"/y;
