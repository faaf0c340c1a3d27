import { parseRequirements } from '../dependencies/python-requirements.ts';
import { EnvironmentError } from '../environment-error.ts';
import type { PythonCondition } from '../install/python-version.ts';

/**
 * Read a condition on the version of Python in its normal form, without blanks. So no other text can become a
 * requirement: `3.9` after `python` would be the name of a package.
 *
 * @param where the declaration, such as `requires-python of pyproject.toml`
 * @throws EnvironmentError `bad-dependencies` for any other text
 * @example readPythonCondition('>=3.9, <4', 'pyproject.toml').versions // '>=3.9,<4'
 */
export function readPythonCondition(text: string, where: string): PythonCondition {
  const { dependencies, faults } = parseRequirements(`python${text.trim().replace(/,$/, '')}`);
  const [one] = dependencies;
  if (one?.kind === 'python' && dependencies.length === 1 && faults.length === 0)
    return { versions: one.versions, where };
  throw new EnvironmentError(
    'bad-dependencies',
    `${where}: ${JSON.stringify(text)} is not a condition on the version of Python, such as >=3.11 or ==3.12.*`,
  );
}
