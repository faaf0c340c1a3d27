import { maskCredentials } from '../operator-environment.ts';
import {
  type Dependency,
  type DependencyFault,
  normalRelativePath,
  type ParsedDependencies,
  type PipOption,
} from './dependency.ts';

/**
 * Parse Python requirement lines: `name[extras]>=1,<2 ; marker`, `name @ https://…`, `./path.whl` (or `.tar.gz`,
 * `.zip`) of the source, `-r file`, and the options of `parsePipOption`, whose hosts the deployment must allow.
 * Refuses every other pip option; `file:` and version-control URLs; continuation lines and `${VARIABLES}`, which
 * pip expands after any check. Direct URLs must use https and contain no credentials, because every viewer can
 * read them. They need no hash.
 */
export function parseRequirements(text: string): ParsedDependencies {
  const dependencies: Dependency[] = [];
  const faults: DependencyFault[] = [];
  for (const requirement of splitRequirements(text)) {
    const parsed = parseRequirement(requirement.text.replaceAll(/\s+/g, ' '), requirement.line);
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
 * belongs to the URL unless white space follows. Comments (` #…`) end a line.
 */
function splitRequirements(text: string): RequirementText[] {
  return text.split(/\r\n|\n|\r/).flatMap((raw, index) =>
    splitCommas(raw.replace(/(?:^|\s)#.*$/, ''))
      .map((part) => ({ line: index + 1, text: part.trim() }))
      .filter((part) => part.text !== ''),
  );
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

const requirementsOption = /^(?:-r\s*|--requirement(?:\s+|=))(\S.*)$/;

function parseRequirement(text: string, line: number): Dependency | string {
  if (text.length > longestLine) return `a line has at most ${longestLine} characters`;
  if (!/^[\x20-\x7e]*$/.test(text)) return 'only printable ASCII outside comments';
  if (text.includes('\\')) return 'backslashes and continuation lines are not allowed';
  if (text.includes('${')) return 'variables are not expanded here';
  const file = requirementsOption.exec(text)?.[1];
  if (file !== undefined) {
    const path = normalRelativePath(file.trim());
    return path === null
      ? '-r takes one file inside the source, relative and without ..'
      : { kind: 'requirements', line, path };
  }
  const option = parsePipOption(text, line);
  if (option !== null) return option;
  if (/(?:^|\s)-/.test(text)) {
    return 'of the pip options only -r, --index-url, --extra-index-url, --find-links and --pre are allowed, each on a line of its own';
  }
  const [beforeMarker = '', marker] = splitMarker(text);
  if (marker !== undefined && !isMarker(marker)) return 'what follows the ; is not an environment marker';
  const suffix = marker === undefined ? '' : marker.trim().replaceAll(/\s+/g, ' ');
  return /^[./~]|^file:/i.test(text)
    ? localFile(beforeMarker, suffix, line)
    : named(beforeMarker, suffix, line);
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
  'whoever may see the project can read it; keep user and password in a secret variable of the project';

/** Parse one line. Returns the pip option, an error text, or null if the line is none of the four options. */
function parsePipOption(text: string, line: number): Dependency | string | null {
  if (text === '--pre') return { kind: 'option', line, name: 'pre', value: '' };
  const [, written = '', value = ''] = withUrl.exec(text) ?? [];
  const name = longNames[written];
  if (name === undefined) return null;
  if (name === 'find-links' && !/^[a-z+]+:/i.test(value)) {
    return `${written} takes a URL here; a package of the source is a line like ./wheels/name-1.0-py3-none-any.whl`;
  }
  if (!/^https?:\/\/[^\s"'<>`{}|^]+$/i.test(value) || !URL.canParse(value)) {
    return `${written} takes the https URL of a package index`;
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
    const found = token.exec(text);
    if (found === null) return null;
    tokens.push((found[1] ?? '').replace(/^not\s+in$/, 'not in'));
    // Far more than any real marker has. The limit bounds the depth of brackets.
    if (tokens.length > 400) return null;
  }
  return tokens;
}

function localFile(text: string, marker: string, line: number): Dependency | string {
  const [, written = '', list] = /^([^[\]]+?)\s*(?:\[([^\]]*)\])?$/.exec(text) ?? [];
  const path = written.startsWith('./') ? normalRelativePath(written) : null;
  if (path === null) return 'a local package is written ./path.whl, inside the source';
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

function named(text: string, marker: string, line: number): Dependency | string {
  const [, name = '', list, rest = ''] = /^([A-Za-z0-9._-]+)\s*(?:\[([^\]]*)\])?\s*(.*)$/.exec(text) ?? [];
  if (!identifier.test(name))
    return 'not a requirement (one a line, or separated by commas, like numpy>=2,<3)';
  const extras = normalExtras(list);
  if (extras === null) return 'the extras in [ ] are malformed';
  const wanted = rest.startsWith('@') ? directUrl(rest.slice(1).trim()) : versions(rest);
  if (wanted.fault !== undefined) return wanted.fault;
  const spec = `${normalName(name)}${extras}${wanted.text}`;
  return { kind: 'package', line, spec: marker === '' ? spec : `${spec} ; ${marker}` };
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
    return { fault: 'after the name comes a version like ==1.2 or >=1,<2' };
  }
  return { text: parts.map((part) => part.replaceAll(/\s+/g, '')).join(',') };
}
