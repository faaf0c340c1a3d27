import { maskCredentials } from '../operator-environment.ts';
import {
  type Dependency,
  type DependencyFault,
  normalRelativePath,
  type ParsedDependencies,
  type PipOption,
  pathFrom,
} from './dependency.ts';

/**
 * Parse Python requirement lines: `name[extras]>=1,<2 ; marker`, also with `--hash`; `name @ https://…`, `./path.whl`
 * (or `.tar.gz`, `.zip`) of the source, `-e .` or `-e ./folder` of the source, `-r file`, `-c file`, `python>=3.11` for
 * the interpreter, and the options of `parsePipOption`, whose hosts the deployment must allow. Refuses every other pip
 * option; `file:` and version-control URLs; and `${VARIABLES}`, which pip expands after any check. Direct URLs must use
 * https and contain no credentials, because every viewer can read them. They need no hash.
 *
 * @param folder of the file with this text in the source: paths of `-r` and `-c` begin there, as in pip
 */
export function parseRequirements(text: string, folder = '.'): ParsedDependencies {
  const dependencies: Dependency[] = [];
  const faults: DependencyFault[] = [];
  for (const requirement of splitRequirements(text)) {
    const parsed = parseRequirement(requirement.text.replaceAll(/\s+/g, ' '), requirement.line, folder);
    if (typeof parsed === 'string') {
      const shown = JSON.stringify(maskCredentials(requirement.text.slice(0, 80)));
      faults.push({ line: requirement.line, message: `${shown}: ${parsed}` });
    } else dependencies.push(parsed);
  }
  return { dependencies, faults };
}

/** One requirement in its original text without the comment; `line` counts from 1. */
interface RequirementText {
  line: number;
  text: string;
}

/**
 * Split requirement lines, which may also be separated by commas. A newline always separates. A comma separates
 * outside brackets and quotes, unless a version comparator follows it (`numpy>=1,<2`). In a direct URL a comma
 * belongs to the URL unless white space follows. Comments (` #…`) end a line; a backslash at its end continues it, as
 * pip-compile writes hashes.
 */
function splitRequirements(text: string): RequirementText[] {
  return continuedLines(text).flatMap(({ line, text: raw }) =>
    splitCommas(raw)
      .map((part) => ({ line, text: part.trim() }))
      .filter((part) => part.text !== ''),
  );
}

/** Join continued lines, without comments. `line` is the first of them. */
function continuedLines(text: string): RequirementText[] {
  const joined: RequirementText[] = [];
  let open: RequirementText | undefined;
  for (const [index, raw] of text.split(/\r\n|\n|\r/).entries()) {
    const content = raw.replace(/(?:^|\s)#.*$/, '');
    const continues = content.endsWith('\\');
    const part = continues ? content.slice(0, -1) : content;
    open = open === undefined ? { line: index + 1, text: part } : { ...open, text: `${open.text} ${part}` };
    if (continues) continue;
    joined.push(open);
    open = undefined;
  }
  return open === undefined ? joined : [...joined, open];
}

/** Longer lines are not split, and the grammar refuses them. This bounds the work for a hostile file. */
const longestLine = 4000;

function splitCommas(line: string): string[] {
  if (line.length > longestLine) return [line];
  const parts: string[] = [];
  let start = 0;
  let depth = 0;
  let quote = '';
  for (let at = 0; at < line.length; at += 1) {
    const character = line.charAt(at);
    if (quote !== '') {
      if (character === quote) quote = '';
    } else if (character === '"' || character === "'") quote = character;
    else if (character === '[' || character === '(') depth += 1;
    else if (character === ']' || character === ')') depth -= 1;
    else if (character === ',' && depth <= 0 && separates(line, start, at)) {
      parts.push(line.slice(start, at));
      start = at + 1;
    }
  }
  return [...parts, line.slice(start)];
}

// A quoted value may not contain ` -`, which pip reads as the start of an option anywhere in a line.
const token =
  /\s*([()]|===|[<>=!~]=|[<>]|not\s+in\b|[a-z_]+|"(?:[\w.+*!~,-]|\s(?!-))*"|'(?:[\w.+*!~,-]|\s(?!-))*')/y;

function separates(line: string, start: number, comma: number): boolean {
  const token = line.slice(start, comma).trimStart().split(/\s/).at(-1) ?? '';
  const next = line.charAt(comma + 1);
  if (/(?:^|@)[A-Za-z+]+:\/\//.test(token)) return next === '' || /\s/.test(next);
  return !/^\s*[<>=!~]/.test(line.slice(comma + 1, comma + 100));
}

/** What to do about a requirement from a repository. */
export const gitAdvice =
  'pip would fetch it with git, which jobs do not have. Build a wheel (pip wheel …) and name it as ./wheels/name-1.0-py3-none-any.whl, or add it as a git submodule and name it as -e ./folder';

const fileOption = /^(-r|-c)\s*(\S.*)$|^--(requirement|constraint)(?:\s+|=)(\S.*)$/;

const editableOption = /^(?:-e\s*|--editable(?:\s+|=))(\S.*)$/;

/** `.`, `./folder`, `../folder` and `file:.`, with extras. */
const sourceFolder = /^(?:file:)?(\.{1,2}(?:\/[^[\]\s;]*)?)\s*(?:\[([^\]]*)\])?$/;

function parseRequirement(text: string, line: number, folder: string): Dependency | string {
  if (text.length > longestLine) return `a line may have at most ${longestLine} characters`;
  if (!/^[\x20-\x7e]*$/.test(text)) return 'only printable ASCII outside comments';
  if (text.includes('\\')) return 'backslashes are allowed only at the end of a line';
  if (text.includes('${')) return 'variables are not expanded here';
  if (/(?:^|[\s@='"])(?:git|hg|svn|bzr)\+/.test(text)) return gitAdvice;
  const includes = includedFile(text, line, folder) ?? projectFolder(text, line, folder);
  if (includes !== null) return includes;
  const option = parsePipOption(text, line);
  if (option !== null) return option;
  const { plain, hashes } = splitHashes(text);
  if (/(?:^|\s)-/.test(plain)) {
    return 'of the pip options only -r, -c, -e, --index-url, --extra-index-url, --find-links and --pre are allowed, each on its own line, and --hash=sha256:… after a package';
  }
  const [beforeMarker = '', marker] = splitMarker(plain);
  if (marker !== undefined && !isMarker(marker)) return 'what follows the ; is not an environment marker';
  const suffix = marker === undefined ? '' : marker.trim().replaceAll(/\s+/g, ' ');
  if (/^[./~]|^file:/i.test(plain))
    return hashes === '' ? localFile(beforeMarker, suffix, line) : '--hash is for packages of an index';
  if (/^python\s*(?:$|[=<>!~])/i.test(beforeMarker)) return interpreter(beforeMarker, line);
  return named(beforeMarker, suffix, line, hashes);
}

/** Parse `-r file` and `-c file`. Returns null for any other line. */
function includedFile(text: string, line: number, folder: string): Dependency | string | null {
  const [, short, shortPath, long, longPath] = fileOption.exec(text) ?? [];
  const written = shortPath ?? longPath;
  if (written === undefined) return null;
  const isConstraints = short === '-c' || long === 'constraint';
  const path = pathFrom(folder, written.trim());
  if (path === null || path === '.')
    return `${isConstraints ? '-c' : '-r'} takes one file inside the source, by a relative path`;
  return { kind: isConstraints ? 'constraints' : 'requirements', line, path };
}

/** Parse `-e .`, `.` and folders of the source below it. Returns null for any other line. */
function projectFolder(text: string, line: number, folder: string): Dependency | string | null {
  const editable = editableOption.exec(text)?.[1]?.trim();
  const written = (editable ?? text).replace(/^(["'])(.*)\1$/, '$2');
  const [, place, list] = sourceFolder.exec(written) ?? [];
  if (place === undefined) return editable === undefined ? null : folderAdvice;
  if (editable === undefined && /\.(?:whl|gz|zip)$/.test(place)) return null;
  const below = place.replace(/\/+$/, '');
  // pip's paths begin at the working folder. Programs of a larger source run in the folder of their file.
  const beside = folder === '.' ? null : pathFrom(folder, below);
  const path = pathFrom('.', below) ?? beside;
  const extras = normalExtras(list);
  if (path === null) return folderAdvice;
  if (extras === null) return 'the extras in [ ] are malformed';
  return { kind: 'folder', line, path, extras, ...(beside !== null && { beside }) };
}

const folderAdvice = '-e takes . or a folder inside the source, such as ./lib';

const hashOption = /\s--hash[= ](sha256:[0-9a-f]{64}|sha384:[0-9a-f]{96}|sha512:[0-9a-f]{128})(?=\s|$)/g;

/** Split off the `--hash` options at the end of a requirement. */
function splitHashes(text: string): { plain: string; hashes: string } {
  const found = [...text.matchAll(hashOption)].map(([, hash]) => `--hash=${hash}`);
  return { plain: text.replaceAll(hashOption, ''), hashes: found.sort().join(' ') };
}

function interpreter(text: string, line: number): Dependency | string {
  const wanted = versions(text.slice('python'.length).trim());
  if (wanted.fault !== undefined || wanted.text === '')
    return 'after python comes a version like >=3.11 or ==3.12.*';
  return { kind: 'python', line, versions: wanted.text };
}

const withUrl = /^(-i|--index-url|--extra-index-url|-f|--find-links)(?:\s*=\s*|\s+)(\S+)$/;

const longNames: Readonly<Record<string, PipOption>> = {
  '-i': 'index-url',
  '--index-url': 'index-url',
  '--extra-index-url': 'extra-index-url',
  '-f': 'find-links',
  '--find-links': 'find-links',
};

/** Advice appended to errors about credentials in the URL of a package index. */
const credentialAdvice =
  'every user who may see the project can read it; keep user name and password in a secret variable of the project';

/** Parse one line. Returns the pip option, an error text, or null if the line is none of the four options. */
function parsePipOption(text: string, line: number): Dependency | string | null {
  if (text === '--pre') return { kind: 'option', line, name: 'pre', value: '' };
  const [, written = '', value = ''] = withUrl.exec(text) ?? [];
  const name = longNames[written];
  if (name === undefined) return null;
  if (name === 'find-links' && !/^[a-z+]+:/i.test(value)) {
    return `${written} requires a URL; name a package in the source on its own line, such as ./wheels/name-1.0-py3-none-any.whl`;
  }
  if (!/^https?:\/\/[^\s"'<>`{}|^]+$/i.test(value) || !URL.canParse(value)) {
    return `${written} requires the https URL of a package index`;
  }
  const url = new URL(value);
  if (url.username !== '' || url.password !== '') return `credentials in a URL: ${credentialAdvice}`;
  return { kind: 'option', line, name, value: url.href };
}

/** Split off the marker. In a direct URL a `;` belongs to the URL unless white space precedes it. */
function splitMarker(text: string): [string, string?] {
  const at = /^[^;]*@\s*[a-z+]+:/i.test(text) ? text.search(/\s;/) : text.indexOf(';');
  return at < 0 ? [text] : [text.slice(0, at).trim(), text.slice(at).trim().slice(1)];
}

const variables = new Set([
  'python_version',
  'python_full_version',
  'os_name',
  'sys_platform',
  'platform_release',
  'platform_system',
  'platform_version',
  'platform_machine',
  'platform_python_implementation',
  'implementation_name',
  'implementation_version',
  'extra',
]);

const operators = new Set(['<', '<=', '>', '>=', '==', '===', '!=', '~=', 'in', 'not in']);

/**
 * Whether a text is an environment marker by the grammar of PEP 508: comparisons of the twelve marker variables
 * with quoted values, joined by `and`, `or` and brackets.
 */
function isMarker(text: string): boolean {
  const tokens = tokenize(text.trim());
  if (tokens === null) return false;
  let at = 0;

  const value = (): boolean => {
    const next = tokens[at] ?? '';
    at += 1;
    return variables.has(next) || /^["']/.test(next);
  };
  const comparison = (): boolean => {
    if (tokens[at] !== '(') {
      if (!value() || !operators.has(tokens[at] ?? '')) return false;
      at += 1;
      return value();
    }
    at += 1;
    if (!expression()) return false;
    at += 1;
    return tokens[at - 1] === ')';
  };
  // `and` binds tighter than `or`. This affects the meaning but not the syntax.
  const expression = (): boolean => {
    if (!comparison()) return false;
    while (tokens[at] === 'and' || tokens[at] === 'or') {
      at += 1;
      if (!comparison()) return false;
    }
    return true;
  };
  return expression() && at === tokens.length;
}

function tokenize(text: string): string[] | null {
  const tokens: string[] = [];
  token.lastIndex = 0;
  while (token.lastIndex < text.length) {
    const match = token.exec(text);
    if (match === null) return null;
    tokens.push((match[1] ?? '').replace(/^not\s+in$/, 'not in'));
    // Far more than any real marker has. The limit bounds the depth of brackets.
    if (tokens.length > 400) return null;
  }
  return tokens;
}

function localFile(text: string, marker: string, line: number): Dependency | string {
  const [, written = '', list] = /^([^[\]]+?)\s*(?:\[([^\]]*)\])?$/.exec(text) ?? [];
  const path = written.startsWith('./') ? normalRelativePath(written) : null;
  if (path === null) return 'write a local package as ./path.whl, a path inside the source';
  if (!/\.(?:whl|tar\.gz|zip)$/.test(path)) return 'a local package must be a .whl, .tar.gz or .zip file';
  const extras = normalExtras(list);
  return extras === null ? 'the extras in [ ] are malformed' : { kind: 'file', line, path, extras, marker };
}

const identifier = /^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/;

function normalExtras(list: string | undefined): string | null {
  if (list === undefined || list.trim() === '') return '';
  const extras = list.split(',').map((extra) => extra.trim());
  return extras.every((extra) => identifier.test(extra))
    ? `[${extras.map(normalName).sort().join(',')}]`
    : null;
}

/** Normalize a name by PEP 503: lower case, with runs of `-`, `_` and `.` as one `-`. */
export function normalName(name: string): string {
  return name.toLowerCase().replaceAll(/[-_.]+/g, '-');
}

function named(text: string, marker: string, line: number, hashes: string): Dependency | string {
  const [, name = '', list, rest = ''] = /^([A-Za-z0-9._-]+)\s*(?:\[([^\]]*)\])?\s*(.*)$/.exec(text) ?? [];
  if (!identifier.test(name))
    return 'not a requirement (one per line, or separated by commas, such as numpy>=2,<3)';
  const extras = normalExtras(list);
  if (extras === null) return 'the extras in [ ] are malformed';
  const wanted = rest.startsWith('@') ? directUrl(rest.slice(1).trim()) : versions(rest);
  if (wanted.fault !== undefined) return wanted.fault;
  const spec = `${normalName(name)}${extras}${wanted.text}`;
  const marked = marker === '' ? spec : `${spec} ; ${marker}`;
  return { kind: 'package', line, spec: marked, ...(hashes !== '' && { hashes }) };
}

type Wanted = { text: string; fault?: undefined } | { text?: undefined; fault: string };

function directUrl(text: string): Wanted {
  const fault = 'a direct URL must be https';
  if (!/^https:\/\/[^\s"'<>`{}|^]+$/i.test(text) || !URL.canParse(text)) return { fault };
  const url = new URL(text);
  if (url.protocol !== 'https:') return { fault };
  return url.username === '' && url.password === ''
    ? { text: ` @ ${url.href}` }
    : { fault: `credentials in a URL: ${credentialAdvice}` };
}

const specifier = /^(?:===|[~=!<>]=|[<>])\s*[A-Za-z0-9][A-Za-z0-9.*+!_-]*$/;

function versions(text: string): Wanted {
  if (text === '') return { text: '' };
  const parts = text.split(',').map((part) => part.trim());
  if (!parts.every((part) => specifier.test(part))) {
    return { fault: 'after the name, a version such as ==1.2 or >=1,<2 is expected' };
  }
  return { text: parts.map((part) => part.replaceAll(/\s+/g, '')).join(',') };
}
