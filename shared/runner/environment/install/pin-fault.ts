import { normalName } from '../dependencies/python-requirements.ts';
import type { PlacedRequirement } from './build-fault.ts';

/**
 * Say which requirement no release meets that this Python can have, and the newest release that it can have.
 *
 * @param requirement from `unmetPin`
 * @param newest undefined if there is none or nobody knows it
 * @param identity implementation and version of the interpreter, such as `cpython-3.11.2`
 * @example pinFault('torch==1.7.0', '2.2.0', [], 'cpython-3.11.2')
 * // 'torch==1.7.0 (another package requires it): the package index has no such version for Python 3.11.2, but 2.2.0. …'
 */
export function pinFault(
  requirement: string,
  newest: string | undefined,
  required: readonly PlacedRequirement[],
  identity: string,
): string {
  const name = packageOf(requirement);
  const { where } = required.find((one) => one.name === name) ?? { where: 'another package requires it' };
  const python = identity.replace(/^cpython-/i, 'Python ').replace('-', ' ');
  const [offer, advice] =
    newest === undefined ? ['', 'Look at the name, or'] : [`, but ${newest}`, 'Require that, or'];
  return `${requirement} (${where}): the package index has no such version for ${python}${offer}. ${advice} choose the Python that it was made for (python: "3.8" in mps.yaml, for example).`;
}

/** The normal name of the package of a requirement. */
export const packageOf = (requirement: string): string => normalName(/^[\w.-]+/.exec(requirement)?.[0] ?? '');

/**
 * Return the requirement that no release meets, from the output of uv; undefined if it tells of none. uv names what an index
 * has only for some other Python by the tags of its wheels, or as a range.
 */
export function unmetPin(output: string): string | undefined {
  const text = output.replaceAll(/\s+/g, ' ');
  return (
    /Because (\S+) has no wheels with a matching Python/.exec(text)?.[1] ??
    /there (?:is|are) no versions? of (\S+?)(?:,| and)/.exec(text)?.[1] ??
    /only the following versions? of \S+ (?:is|are) available: .*? and (?:you require|\S+ depends on) (\S+?),? we can/.exec(
      text,
    )?.[1] ??
    /Because (\S+) was not found in the (?:package registry|provided package locations)/.exec(text)?.[1]
  );
}
