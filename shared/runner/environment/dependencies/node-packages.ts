import type { Dependency, DependencyFault, ParsedDependencies } from './dependency.ts';
import { normalRelativePath } from './relative-path.ts';

const packageName = /^(?:@[a-z0-9~][a-z0-9._~-]*\/)?[A-Za-z0-9~][A-Za-z0-9._~-]*$/;
const range = /^[0-9A-Za-z.^~<>=|*+ -]{1,200}$/;
// npm takes a name or range with these endings for a file, so `a@b.tgz` would read one.
const tarball = /\.(?:tgz|tar|tar\.gz)$/i;

/**
 * npm packages, one a line or separated by commas: `name`, `name@range`, `name@tag`, the same with `@scope/`, or a
 * tarball of the source as `./path.tgz`. `#` starts a comment. Git, URL, alias and folder specs and options are refused.
 */
export function parseNodePackages(text: string): ParsedDependencies {
  const dependencies: Dependency[] = [];
  const faults: DependencyFault[] = [];
  for (const [index, raw] of text.split(/\r\n|\n|\r/).entries()) {
    const line = index + 1;
    for (const entry of raw.replace(/(?:^|\s)#.*$/, '').split(',')) {
      const spec = entry.trim();
      if (spec === '') continue;
      const parsed = parsePackage(spec, line);
      if (typeof parsed === 'string') faults.push({ line, message: parsed });
      else dependencies.push(parsed);
    }
  }
  return { dependencies, faults };
}

function parsePackage(spec: string, line: number): Dependency | string {
  const shown = JSON.stringify(spec.slice(0, 80));
  if (spec.startsWith('-')) return `${shown}: npm options are not allowed here`;
  if (spec.startsWith('.') || spec.startsWith('/') || spec.startsWith('file:')) {
    const path = spec.startsWith('./') ? normalRelativePath(spec) : null;
    if (path === null) return `${shown}: a local package is written ./path.tgz, inside the source`;
    if (!/\.(?:tgz|tar\.gz)$/.test(path)) return `${shown}: a local package must be a .tgz file`;
    return { kind: 'file', line, path, extras: '', marker: '' };
  }
  const at = spec.indexOf('@', 1);
  const name = at < 0 ? spec : spec.slice(0, at);
  const wanted =
    at < 0
      ? ''
      : spec
          .slice(at + 1)
          .trim()
          .replaceAll(/ +/g, ' ');
  if (!packageName.test(name) || name.length > 214 || tarball.test(name)) {
    return `${shown}: not the name of an npm package (one a line, or separated by commas)`;
  }
  if (at >= 0 && (!range.test(wanted) || tarball.test(wanted))) {
    return `${shown}: after @ comes a version, a range or a tag`;
  }
  return { kind: 'package', line, spec: at < 0 ? name : `${name}@${wanted}` };
}
