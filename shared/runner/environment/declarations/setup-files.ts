/**
 * Return the requirement lines of a `setup.cfg` (`[options] install_requires`); undefined if it lists none.
 *
 * @example setupCfgRequirements('[options]\ninstall_requires =\n  numpy\n  scipy>=1') // ['numpy', 'scipy>=1']
 */
export function setupCfgRequirements(content: string): string[] | undefined {
  let section = '';
  let found: string[] | undefined;
  let isListed = false;
  for (const raw of content.split(/\r\n|\n|\r/)) {
    const line = raw.replace(/^\s*[#;].*$|\s#.*$/, '').trimEnd();
    if (line.trim() === '') continue;
    const header = /^\[([^\]]+)\]/.exec(line)?.[1];
    const [, key = '', value = ''] = /^([\w.-]+)\s*[=:]\s*(.*)$/.exec(line) ?? [];
    if (header !== undefined) section = header.trim();
    // A continuation of the former key begins with white space.
    if (/^\s/.test(line) && isListed) found?.push(line.trim());
    else isListed = section === 'options' && key === 'install_requires';
    if (isListed && key === 'install_requires') found = value === '' ? [] : [value];
  }
  return found;
}

/**
 * Return the requirement lines of a `setup.py` whose `install_requires` is a list of plain strings; undefined if it has
 * none, or computes it. The file is not run: it is code of the project.
 *
 * @example setupPyRequirements('setup(install_requires=["numpy", "scipy>=1"])') // ['numpy', 'scipy>=1']
 */
export function setupPyRequirements(content: string): string[] | undefined {
  const list = /\binstall_requires\s*=\s*\[([^[\]]*(?:\[[^\]]*\][^[\]]*)*)\]/.exec(content)?.[1];
  if (list === undefined) return undefined;
  const plain = list.replaceAll(/#[^\n]*/g, '');
  const strings = [...plain.matchAll(/(["'])((?:(?!\1)[^\\\n])*)\1/g)];
  const rest = plain.replaceAll(/(["'])((?:(?!\1)[^\\\n])*)\1/g, '');
  return /^[\s,]*$/.test(rest) ? strings.map(([, , text = '']) => text) : undefined;
}
