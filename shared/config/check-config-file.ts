import { badRequest, type ParameterFault } from '../core/service-error.ts';
import { illFormed, isWellFormed } from '../core/text/well-formed.ts';
import { parseConfig } from './parse-config.ts';
import { type ConfigFormat, configFormat } from './parse-config-file.ts';

/**
 * The format of a configuration file that was sent under this name.
 * Throws a 400 problem for a name of no known format, and for contents that do not parse, with line and column.
 */
export async function checkConfigFile(config_id: string, bytes: Uint8Array): Promise<ConfigFormat> {
  if (configFormat(config_id) === undefined) {
    throw badRequest([
      {
        in: 'path',
        name: 'config_id',
        message: 'must end in .yaml, .yml, .json or .toml, which says its format',
      },
    ]);
  }
  const parsed = await parseConfig({ config_id, content: textOf(bytes) });
  if ('fault' in parsed) throw badRequest([bodyFault(parsed.fault)]);
  // JSON and YAML can write as an escape what no UTF-8 file holds.
  if (!isWellFormed(parsed.data)) throw badRequest([bodyFault(illFormed)]);
  return parsed.format;
}

function textOf(bytes: Uint8Array): string {
  if (bytes.length === 0) throw badRequest([bodyFault('is empty; send the configuration file as the body')]);
  try {
    return decodeConfig(bytes);
  } catch {
    throw badRequest([bodyFault('is not valid UTF-8')]);
  }
}

const bodyFault = (message: string): ParameterFault => ({ in: 'body', name: 'body', message });

/** The text of a file, with a byte order mark where it has one. @throws TypeError for what is not UTF-8 */
export const decodeConfig = (bytes: Uint8Array): string =>
  new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
