import { readFile } from 'node:fs/promises';
import type { Variables } from '../operator-environment.ts';

/** Settings of pip's files that say where packages are. Each has a variable, `PIP_INDEX_URL`. */
const names: ReadonlySet<string> = new Set([
  ...['index-url', 'extra-index-url', 'no-index', 'find-links', 'trusted-host'],
  ...['cert', 'proxy', 'timeout', 'retries', 'only-binary'],
]);

/**
 * Return the settings of pip's files for the whole machine, and of the file that `PIP_CONFIG_FILE` names, as variables of
 * pip. uv does not read them. A variable of the operator has priority.
 */
export async function pipConfig(operator: Variables): Promise<Record<string, string>> {
  const namedFile = operator['PIP_CONFIG_FILE'] ?? '';
  // This is how pip is told to read none of its files.
  const files = namedFile === '/dev/null' ? [] : [...machineFiles, ...(namedFile === '' ? [] : [namedFile])];
  const texts = await Promise.all(files.map((file) => readFile(file, 'utf8').catch(() => '')));
  return Object.assign({}, ...texts.map(parsePipConfig));
}

/** The later ones have priority. */
const machineFiles = ['/Library/Application Support/pip/pip.conf', '/etc/xdg/pip/pip.conf', '/etc/pip.conf'];

/**
 * Parse a file of pip: sections with `name = value`, whose further lines are indented.
 *
 * @example parsePipConfig('[global]\nindex-url = https://a.example') // { PIP_INDEX_URL: 'https://a.example' }
 */
export function parsePipConfig(text: string): Record<string, string> {
  const settings: Record<string, string> = {};
  let section = '';
  let variable: string | undefined;
  for (const line of text.split(/\r?\n/)) {
    if (/^\s*(?:[#;].*)?$/.test(line)) continue;
    if (/^\s/.test(line)) {
      if (variable !== undefined) settings[variable] = `${settings[variable]} ${line.trim()}`.trim();
      continue;
    }
    section = /^\[(.*)\]/.exec(line)?.[1]?.trim() ?? section;
    const [, name = '', value = ''] = /^([\w-]+)\s*[=:]\s*(.*)$/.exec(line) ?? [];
    const option = name.replaceAll('_', '-').toLowerCase();
    const isRead = names.has(option) && (section === 'global' || section === 'install');
    variable = isRead ? `PIP_${option.replaceAll('-', '_').toUpperCase()}` : undefined;
    if (variable !== undefined) settings[variable] = value.trim();
  }
  return settings;
}
