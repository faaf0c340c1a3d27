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

/** Return the text from the value of a keyword on, or from that of the variable that it names. */
function keywordValue(content: string, keyword: string): string | undefined {
  const found = new RegExp(String.raw`\b${keyword}\s*=\s*(?=\S)`).exec(content);
  if (found === null) return undefined;
  const value = content.slice(found.index + found[0].length);
  const variable = /^([A-Za-z_]\w*)\s*[,)\n]/.exec(value)?.[1];
  if (variable === undefined) return value;
  const assigned = new RegExp(String.raw`^${variable}\s*=\s*(?=\S)`, 'm').exec(content);
  return assigned === null ? undefined : content.slice(assigned.index + assigned[0].length);
}

const quoted = /(["'])((?:(?!\1)[^\\\n])*)\1/g;

const listPattern = String.raw`\[([^[\]]*(?:\[[^\]]*\][^[\]]*)*)\]`;

/** Read the list of plain strings at the beginning of a text; undefined if there is none. */
function literalList(text: string): string[] | undefined {
  const list = new RegExp(`^${listPattern}`).exec(text)?.[1];
  return list === undefined ? undefined : stringsOf(list);
}

/** Read the content of a list; undefined if it is not made of plain strings. */
function stringsOf(list: string): string[] | undefined {
  const plain = list.replaceAll(/#[^\n]*/g, '');
  return /^[\s,]*$/.test(plain.replaceAll(quoted, ''))
    ? [...plain.matchAll(quoted)].map(([, , string = '']) => string)
    : undefined;
}

/** Read the dictionary of lists at the beginning of a text; undefined if there is none. */
function literalLists(text: string): Record<string, string[]> | undefined {
  const body = /^\{([^{}]*)\}/.exec(text)?.[1];
  if (body === undefined) return undefined;
  const entry = new RegExp(String.raw`(["'])([\w.-]+)\1\s*:\s*${listPattern}`, 'g');
  if (!/^(?:\s|,|#[^\n]*)*$/.test(body.replaceAll(entry, ''))) return undefined;
  const lists = [...body.matchAll(entry)].map(
    ([, , name = '', list = '']) => [name, stringsOf(list)] as const,
  );
  return lists.every(([, list]) => list !== undefined)
    ? Object.fromEntries(lists.map(([name, list]) => [name, list ?? []]))
    : undefined;
}
