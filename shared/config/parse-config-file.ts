import { ConfigSyntaxError, quoted } from './config-syntax-error.ts';
import type { ConfigCollection, ConfigValue } from './config-value.ts';
import { parseJson } from './parse-json.ts';
import { parseToml } from './parse-toml.ts';
import { parseYaml } from './parse-yaml.ts';
import type { ConfigLinks } from './yaml-links.ts';

export type ConfigFormat = 'yaml' | 'json' | 'toml';

export interface ParsedConfig {
  readonly format: ConfigFormat;
  /** Plain data. With YAML aliases, one object can occur in several positions. */
  readonly data: ConfigCollection;
  readonly links: ConfigLinks;
}

/**
 * Parse a configuration file in time linear in its length. The caller limits the length.
 *
 * @param fileName its extension decides the format; nothing is guessed from the contents
 * @throws ConfigSyntaxError for any error of the name or the text
 */
export function parseConfigFile(fileName: string, text: string): ParsedConfig {
  const format = configFormat(fileName);
  if (format === undefined) {
    throw new ConfigSyntaxError(
      `the name of a configuration must end in .yaml, .yml, .json or .toml, unlike ${quoted(fileName)}`,
    );
  }
  const body = text.startsWith('\ufeff') ? text.slice(1) : text;
  if (body.trim() === '') throw new ConfigSyntaxError('the file is empty');
  const { value, links } = parseAs(format, body);
  if (value === null && format === 'yaml') throw new ConfigSyntaxError('the file is empty');
  if (typeof value !== 'object' || value === null) {
    throw new ConfigSyntaxError(`the top level must be a mapping or a list, not ${nameOf(value)}`);
  }
  if (format === 'toml' && Object.keys(value).length === 0) throw new ConfigSyntaxError('the file is empty');
  return { format, data: value, links };
}

const formats: ReadonlyMap<string, ConfigFormat> = new Map([
  ['yaml', 'yaml'],
  ['yml', 'yaml'],
  ['json', 'json'],
  ['toml', 'toml'],
]);

/** Return the format of a file's extension, ignoring case; undefined for every other name. */
export function configFormat(fileName: string): ConfigFormat | undefined {
  const dot = fileName.lastIndexOf('.');
  return dot === -1 ? undefined : formats.get(fileName.slice(dot + 1).toLowerCase());
}

function parseAs(format: ConfigFormat, text: string): { value: ConfigValue; links: ConfigLinks } {
  if (format === 'yaml') return parseYaml(text);
  return { value: format === 'json' ? parseJson(text) : parseToml(text), links: new Map() };
}

function nameOf(value: ConfigValue): string {
  return value === null ? 'null' : `a ${typeof value}`;
}
