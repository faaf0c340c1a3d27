import { readFile } from 'node:fs/promises';
import { uvSettings, type Variables } from '../operator-environment.ts';

/**
 * Return the settings of pip that uv has, too, as variables of pip: from pip's files for the whole machine, and from the file
 * that `PIP_CONFIG_FILE` names. uv does not read them. A variable of the operator has priority.
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
    const ofPip = `PIP_${name.replaceAll('-', '_').toUpperCase()}`;
    const isRead = Object.hasOwn(uvSettings, ofPip) && (section === 'global' || section === 'install');
    variable = isRead ? ofPip : undefined;
    if (variable !== undefined) settings[variable] = value.trim();
  }
  return settings;
}
