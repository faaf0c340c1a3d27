import { maskCredentials } from '../operator-environment.ts';
import type { Dependency, DependencyFault, ParsedDependencies } from './dependency.ts';
import { credentialAdvice, parsePipOption } from './pip-option.ts';
import { isMarker } from './python-marker.ts';
import { normalRelativePath } from './relative-path.ts';
import { longestLine, splitRequirements } from './requirement-list.ts';

const identifier = /^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/;
const specifier = /^(?:===|[~=!<>]=|[<>])\s*[A-Za-z0-9][A-Za-z0-9.*+!_-]*$/;
const requirementsOption = /^(?:-r\s*|--requirement(?:\s+|=))(\S.*)$/;

/**
 * Python requirement lines: `name[extras]>=1,<2 ; marker`, `name @ https://…`, `./path.whl` (or `.tar.gz`, `.zip`) of
 * the source, `-r file`, and the options of `parsePipOption`, of whose hosts the deployment decides. Refused: every other
 * pip option; `file:` and version-control URLs; continuation lines and `${VARIABLES}`, which pip expands after any check.
 * Direct URLs must be https and carry no credentials, because every viewer can read them; a hash is not demanded.
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

/** In a direct URL a `;` belongs to the URL unless white space stands before it. */
function splitMarker(text: string): [string, string?] {
  const at = /^[^;]*@\s*[a-z+]+:/i.test(text) ? text.search(/\s;/) : text.indexOf(';');
  return at < 0 ? [text] : [text.slice(0, at).trim(), text.slice(at).trim().slice(1)];
}

function localFile(text: string, marker: string, line: number): Dependency | string {
  const [, written = '', list] = /^([^[\]]+?)\s*(?:\[([^\]]*)\])?$/.exec(text) ?? [];
  const path = written.startsWith('./') ? normalRelativePath(written) : null;
  if (path === null) return 'a local package is written ./path.whl, inside the source';
  if (!/\.(?:whl|tar\.gz|zip)$/.test(path)) return 'a local package must be a .whl, .tar.gz or .zip file';
  const extras = normalExtras(list);
  return extras === null ? 'the extras in [ ] are malformed' : { kind: 'file', line, path, extras, marker };
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

function versions(text: string): Wanted {
  if (text === '') return { text: '' };
  const parts = text.split(',').map((part) => part.trim());
  if (!parts.every((part) => specifier.test(part))) {
    return { fault: 'after the name comes a version like ==1.2 or >=1,<2' };
  }
  return { text: parts.map((part) => part.replaceAll(/\s+/g, '')).join(',') };
}

function directUrl(text: string): Wanted {
  const fault = 'a direct URL must be https';
  if (!/^https:\/\/[^\s"'<>`{}|^]+$/i.test(text) || !URL.canParse(text)) return { fault };
  const url = new URL(text);
  if (url.protocol !== 'https:') return { fault };
  return url.username === '' && url.password === ''
    ? { text: ` @ ${url.href}` }
    : { fault: `credentials in a URL: ${credentialAdvice}` };
}

function normalExtras(list: string | undefined): string | null {
  if (list === undefined || list.trim() === '') return '';
  const extras = list.split(',').map((extra) => extra.trim());
  return extras.every((extra) => identifier.test(extra))
    ? `[${extras.map(normalName).sort().join(',')}]`
    : null;
}

/** PEP 503: lower-case, runs of `-`, `_` and `.` are one `-`. */
export function normalName(name: string): string {
  return name.toLowerCase().replaceAll(/[-_.]+/g, '-');
}
