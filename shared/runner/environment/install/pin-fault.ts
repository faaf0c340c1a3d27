import { normalName } from '../dependencies/python-requirements.ts';
import type { PlacedRequirement } from './build-fault.ts';

/**
 * Say which requirement no release meets that this Python can have, from the output of pip or uv, and which releases it
 * can have. Undefined if the output tells of no such requirement.
 *
 * @param identity implementation and version of the interpreter, such as `cpython-3.11.2`
 * @example pinFault('ERROR: Could not find a version that satisfies the requirement torch==1.7.0 (from versions: 2.1, 2.2)', [], 'cpython-3.11.2')
 * // 'torch==1.7.0 (another package requires it): the package index has no such version for Python 3.11.2, …'
 */
export function pinFault(
  output: string,
  required: readonly PlacedRequirement[],
  identity: string,
): string | undefined {
  const unmetPin = pip(output) ?? uv(output);
  if (unmetPin === undefined) return undefined;
  const name = normalName(/^[\w.-]+/.exec(unmetPin.requirement)?.[0] ?? '');
  const { where } = required.find((one) => one.name === name) ?? { where: 'another package requires it' };
  const python = identity.replace(/^cpython-/i, 'Python ').replace('-', ' ');
  const newest = unmetPin.versions.at(-1);
  const [offer, advice] =
    newest === undefined
      ? ['', 'Look at the name, or']
      : [`, but ${rangeOf(unmetPin.versions)}`, 'Require one of these, or'];
  return `${unmetPin.requirement} (${where}): the package index has no such version for ${python}${offer}. ${advice} choose the Python that it was made for (python: "3.8" in mps.yaml, for example).`;
}

interface UnmetPin {
  requirement: string;
  /** Versions for this Python, the oldest first. */
  versions: readonly string[];
}

function pip(output: string): UnmetPin | undefined {
  const unmet =
    /satisfies the requirement (\S[^(\n]*?)(?: \(from (?!versions:)[^\n]*?\))? \(from versions: ([^)\n]*)\)/;
  const [, requirement, listed = ''] = unmet.exec(output) ?? [];
  if (requirement === undefined) return undefined;
  return { requirement, versions: listed.split(', ').filter((version) => !/^(?:none)?$/.test(version)) };
}

/** uv names what it has only for some other Python: by the tags of its wheels, or as a range. */
function uv(output: string): UnmetPin | undefined {
  const text = output.replaceAll(/\s+/g, ' ');
  const requirement =
    /Because (\S+) has no wheels with a matching Python/.exec(text)?.[1] ??
    /there (?:is|are) no versions? of (\S+?)(?:,| and)/.exec(text)?.[1];
  return requirement === undefined ? undefined : { requirement, versions: [] };
}

const rangeOf = (versions: readonly string[]): string =>
  versions.length <= 5 ? versions.join(', ') : `${versions[0]} to ${versions.at(-1)}`;
