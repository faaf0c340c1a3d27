import { packageIndexFault } from '../../../core/package-index-fault.ts';
import {
  type Dependency,
  type DependencyFault,
  normalRelativePath,
  type ParsedDependencies,
} from './dependency.ts';
import { parseRequirements } from './python-requirements.ts';

export interface EnvironmentSpec {
  env_type: 'python' | 'node' | 'system' | 'docker';
  /** The user's text: requirement lines, npm packages or an image. Blank, `-` or `none`: nothing to install. */
  dependencies: string;
}

/**
 * Parse `dependencies` by the grammar of its `env_type`, without accessing any file. Never throws: it lists all
 * errors, so the user can correct them at once.
 */
export function parseDependencies(spec: EnvironmentSpec): ParsedDependencies {
  const nothing = nothingToInstall(spec.dependencies);
  switch (spec.env_type) {
    case 'python':
      return nothing ? { dependencies: [], faults: [] } : parseRequirements(spec.dependencies);
    case 'node':
      return nothing ? { dependencies: [], faults: [] } : parseNodePackages(spec.dependencies);
    case 'system':
      return {
        dependencies: [],
        faults: nothing
          ? []
          : [{ line: 1, message: 'a system environment installs nothing, so this must be blank' }],
      };
    case 'docker': {
      const reference = spec.dependencies.trim();
      const message = nothing
        ? 'a docker environment requires the name of an image'
        : imageReferenceFault(reference);
      if (message !== null) return { dependencies: [], faults: [{ line: 1, message }] };
      return { dependencies: [{ kind: 'image', line: 1, reference }], faults: [] };
    }
  }
}

/** Whether `dependencies` is empty: blank, `-` or `none`. */
function nothingToInstall(dependencies: string): boolean {
  return ['', '-', 'none'].includes(dependencies.trim().toLowerCase());
}

/**
 * Parse npm packages, one per line or separated by commas: `name`, `name@range`, `name@tag`, the same with
 * `@scope/`, or a tarball of the source as `./path.tgz`. `#` starts a comment. Refuses Git, URL, alias and folder
 * specs and options.
 */
function parseNodePackages(text: string): ParsedDependencies {
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

const packageName = /^(?:@[a-z0-9~][a-z0-9._~-]*\/)?[A-Za-z0-9~][A-Za-z0-9._~-]*$/;

// npm treats a name or range with these endings as a file, so `a@b.tgz` would read one.
const tarball = /\.(?:tgz|tar|tar\.gz)$/i;

const range = /^[0-9A-Za-z.^~<>=|*+ -]{1,200}$/;

function parsePackage(spec: string, line: number): Dependency | string {
  const shown = JSON.stringify(spec.slice(0, 80));
  if (spec.startsWith('-')) return `${shown}: npm options are not allowed here`;
  if (spec.startsWith('.') || spec.startsWith('/') || spec.startsWith('file:')) {
    const path = spec.startsWith('./') ? normalRelativePath(spec) : null;
    if (path === null) return `${shown}: write a local package as ./path.tgz, a path inside the source`;
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
    return `${shown}: not the name of an npm package (one per line, or separated by commas)`;
  }
  if (at >= 0 && (!range.test(wanted) || tarball.test(wanted))) {
    return `${shown}: after @, a version, a range or a tag is expected`;
  }
  return { kind: 'package', line, spec: at < 0 ? name : `${name}@${wanted}` };
}

const digestPattern = /^[A-Za-z][A-Za-z0-9]*(?:[+._-][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,128}$/;

const tagPattern = /^\w[\w.-]{0,127}$/;

const domain =
  /^(?:[A-Za-z0-9]|[A-Za-z0-9][A-Za-z0-9-]*[A-Za-z0-9])(?:\.(?:[A-Za-z0-9]|[A-Za-z0-9][A-Za-z0-9-]*[A-Za-z0-9]))*(?::[0-9]{1,5})?$/;

const component = /^[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*$/;

/**
 * Return the error of a container image reference, or null. The grammar is
 * `[domain[:port]/]path[/path…][:tag][@digest]`, from the OCI distribution project's reference grammar. The first
 * component is a domain if it has a dot or a colon or is `localhost`. The name has at most 255 characters.
 */
function imageReferenceFault(reference: string): string | null {
  if (/\s|,/.test(reference)) return 'must be one image, without spaces';
  const at = reference.indexOf('@');
  const named = at < 0 ? reference : reference.slice(0, at);
  if (at >= 0 && !digestPattern.test(reference.slice(at + 1))) return 'the digest after @ is malformed';
  const colon = named.indexOf(':', named.lastIndexOf('/') + 1);
  const name = colon < 0 ? named : named.slice(0, colon);
  if (colon >= 0 && !tagPattern.test(named.slice(colon + 1))) return 'the tag after : is malformed';
  if (name.length > 255) return 'the image name has more than 255 characters';
  const parts = name.split('/');
  const first = parts[0] ?? '';
  const hasDomain = parts.length > 1 && (/[.:]/.test(first) || first === 'localhost');
  if (hasDomain && !domain.test(first)) return 'the registry host is malformed';
  const path = hasDomain ? parts.slice(1) : parts;
  if (!path.every((part) => component.test(part)))
    return 'not an image name (lower-case, like registry/name:tag)';
  return null;
}

/** Return the faults of options: a host that this deployment does not allow, and a second `--index-url`. */
export function packageIndexFaults(
  dependencies: readonly Dependency[],
  packageIndexes: readonly string[],
): DependencyFault[] {
  let index: string | undefined;
  return dependencies.flatMap((dependency) => {
    if (dependency.kind !== 'option' || dependency.name === 'pre') return [];
    const { line, name, value } = dependency;
    const message = packageIndexFault(value, packageIndexes);
    if (message !== null) return [{ line, message }];
    if (name !== 'index-url') return [];
    const isSecond = index !== undefined && index !== value;
    index = value;
    return isSecond
      ? [{ line, message: 'more than one --index-url; use --extra-index-url for further ones' }]
      : [];
  });
}
