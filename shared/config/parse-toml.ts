import { parse, TomlError } from 'smol-toml';
import { ConfigSyntaxError } from './config-syntax-error.ts';
import { type ConfigValue, emptyMapping, exactNumber, maxConfigDepth } from './config-value.ts';

/**
 * Parse TOML 1.0. Dates and times become ISO 8601 strings, with the offset as written and none for local times.
 */
export function parseToml(text: string): ConfigValue {
  return plain(read(text), 1);
}

function plain(value: unknown, depth: number): ConfigValue {
  if (typeof value === 'number' || typeof value === 'bigint') return exactNumber(value);
  if (typeof value === 'string' || typeof value === 'boolean') return value;
  if (value instanceof Date) return value.toISOString();
  // Dotted keys can nest tables without limit. The parser's own limit does not count them.
  if (depth > maxConfigDepth) throw new ConfigSyntaxError(`nested deeper than ${maxConfigDepth} levels`);
  if (Array.isArray(value)) return value.map((item) => plain(item, depth + 1));
  const mapping = emptyMapping();
  for (const [key, item] of Object.entries(value ?? {})) mapping[key] = plain(item, depth + 1);
  return mapping;
}

function read(text: string): unknown {
  try {
    return parse(text, { integersAsBigInt: 'asNeeded', maxDepth: maxConfigDepth });
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    throw new ConfigSyntaxError(firstLine(error.message), { line: error.line, column: error.column });
  }
}

/** Return the first line of a library message. The rest quotes the file, which can be one very long line. */
function firstLine(message: string): string {
  return message.split('\n', 1)[0]?.replace('Invalid TOML document: ', '') ?? '';
}
