import { arch, platform } from 'node:process';
import { inLanes } from '../../../core/in-lanes.ts';
import { normalName } from '../dependencies/python-requirements.ts';
import type { IndexedFile } from '../downloads/index-page.ts';
import type { IndexRelay } from '../downloads/index-relay.ts';
import type { EnvironmentBuild } from './builder-input.ts';
import { allowsVersion } from './python-version.ts';

/**
 * Return requirements with those first that no file of the indexes meets for this Python. An installer takes them in their
 * order, and compiles a source distribution to read what it needs: one in front would take minutes before the refusal.
 * It only orders: the installer decides. Never rejects.
 */
export async function unmetFirst(
  { interpreter, dependencies }: Pick<EnvironmentBuild, 'interpreter' | 'dependencies'>,
  relay: Pick<IndexRelay, 'filesOf'>,
): Promise<EnvironmentBuild['dependencies']> {
  const [, python] = /^cpython-(\d+\.\d+\.\d+)/i.exec(interpreter.identity) ?? [];
  const packages = dependencies.filter(({ kind }) => kind === 'package').length;
  const hasOther = dependencies.some(
    (dependency) => dependency.kind === 'option' && dependency.name === 'find-links',
  );
  if (python === undefined || hasOther || packages < 2 || packages > maxPackages) return dependencies;
  const unmet = await inLanes(dependencies, pagesAtOnce, async (one) => {
    const wanted = one.kind === 'package' ? readSpec(one.spec) : undefined;
    if (wanted === undefined) return false;
    try {
      return !(await relay.filesOf(wanted.name)).some((file) => mayMeet(file, wanted.versions, python));
    } catch {
      return false;
    }
  });
  if (!unmet.includes(true)) return dependencies;
  const pick = (isUnmet: boolean) => dependencies.filter((_, index) => unmet[index] === isUnmet);
  return [...pick(true), ...pick(false)];
}

/** More requirements are a lock, whose versions some Python has met. */
const maxPackages = 60;
const pagesAtOnce = 8;

/** Read a requirement of an index; undefined for a URL, and for one with a condition on its environment. */
function readSpec(spec: string): { name: string; versions: string } | undefined {
  const [, name, versions = ''] = /^([\w.-]+?)(?:\[[^\]]*\])?((?:[~=!<>][^;@]*)?)$/.exec(spec.trim()) ?? [];
  return name === undefined ? undefined : { name: normalName(name), versions };
}

/** Whether a file may be one of a version and for a Python. What is not understood may. */
function mayMeet({ url, requiresPython = '' }: IndexedFile, versions: string, python: string): boolean {
  const name = decodeURIComponent(new URL(url).pathname.split('/').at(-1) ?? '');
  const wheel = /^[^-]+-([^-]+)(?:-[^-]+)?-([^-]+)-([^-]+)-([^-]+)\.whl$/.exec(name);
  const version = wheel?.[1] ?? /-(\d[^-]*)\.(?:tar\.\w+|tgz|zip)$/.exec(name)?.[1];
  if (version === undefined) return !/\.(?:egg|exe|msi|rpm|asc|metadata)$/.test(name);
  const isAllowed =
    requiresPython === '' || !known.test(requiresPython) || allowsVersion(requiresPython, python);
  if (!isAllowed || !isVersion(versions, version)) return false;
  if (wheel === null) return true;
  const [, , tags = '', abi = '', platforms = ''] = wheel;
  return (
    tags.split('.').some((tag) => fitsPython(tag, abi, python)) && platforms.split('.').some(fitsPlatform)
  );
}

/** Conditions that `allowsVersion` reads. */
const known = /^\s*[~=!<>]=?=?\s*[\d.*]+\s*(?:,\s*[~=!<>]=?=?\s*[\d.*]+\s*)*$/;

/** Whether a version may meet a specifier. Of pre-releases and local versions only the release counts. */
function isVersion(versions: string, version: string): boolean {
  return versions === '' || !known.test(versions) || allowsVersion(versions, version.replace(/^\d+!/, ''));
}

function fitsPython(tag: string, abi: string, python: string): boolean {
  const [, minor = 0] = python.split('.').map(Number);
  const [, kind, major, wanted = ''] = /^(py|cp)(\d)(\d*)$/.exec(tag) ?? [];
  if (kind === undefined) return false;
  if (major !== '3') return false;
  if (wanted === '') return true;
  const isOlder = kind === 'py' || abi.includes('abi3');
  return isOlder ? Number(wanted) <= minor : Number(wanted) === minor;
}

const processors: Partial<Record<typeof arch, string>> = { x64: 'x86_64', arm64: '(?:aarch64|arm64)' };

function fitsPlatform(tag: string): boolean {
  if (tag === 'any' || !['linux', 'darwin'].includes(platform)) return true;
  const system = platform === 'linux' ? '(?:many|musl)?linux' : 'macosx';
  return new RegExp(`^${system}.*(?:${processors[arch] ?? ''}|universal2)$`).test(tag);
}
