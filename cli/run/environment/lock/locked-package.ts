import { CliError, exitCodes } from '../../../cli-error.ts';

export interface LockedPackage {
  name: string;
  version: string;
  /** URL of a file to install directly, not from an index. */
  url?: string;
  /** Folder of the source with the package. */
  folder?: string;
  /** Package index, if it is not PyPI. */
  index?: string;
  /** Environment markers. The package is installed if one of them holds, or always if the list is empty. */
  markers: readonly string[];
}

/** Return requirement lines that install exactly these packages. */
export function requirementLines(packages: readonly LockedPackage[]): string {
  const indexes = packages.flatMap(({ index }) => (index === undefined || isPyPi(index) ? [] : [index]));
  const options = [...new Set(indexes)].map((index) => `--extra-index-url ${index}`);
  const lines = packages.map(lineOf).sort();
  return [...options, ...lines].map((line) => `${line}\n`).join('');
}

const isPyPi = (index: string): boolean => /^https:\/\/pypi\.(?:org|python\.org)\/simple\/?$/.test(index);

function lineOf({ name, version, url, folder, markers }: LockedPackage): string {
  if (folder !== undefined) return `-e ./${folder}`;
  const wanted = url === undefined ? `${name}==${version}` : `${name} @ ${url}`;
  return markers.length === 0 ? wanted : `${wanted} ; ${oneOf(markers)}`;
}

const oneOf = (markers: readonly string[]): string =>
  markers.length === 1 ? markers.join('') : markers.map((marker) => `(${marker})`).join(' or ');

/** Return the error for a package that the service cannot install from its locked source. */
export const notInstallable = (file: string, name: string, source: string): CliError =>
  new CliError(
    `${file} installs ${name} from ${source}, which is not available in a training.\nInstall it from an index, or add its wheel to the folder and list all packages in requirements.txt.`,
    exitCodes.usage,
  );

/** Normalize a package name (PEP 503). */
export const normalName = (name: string): string => name.toLowerCase().replaceAll(/[-_.]+/g, '-');
