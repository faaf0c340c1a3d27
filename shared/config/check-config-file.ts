import { badRequest, type ParameterFault } from '../core/service-error.ts';
import { illFormed, isWellFormed } from '../core/text/well-formed.ts';
import { parseConfig } from './parse-config.ts';
import { type ConfigFormat, configFormat } from './parse-config-file.ts';

/**
 * Check an uploaded configuration file and return its format.
 *
 * @throws a 400 problem for a name of unknown format, and for invalid contents, with line and column
 */
export async function checkConfigFile(config_id: string, bytes: Uint8Array): Promise<ConfigFormat> {
  if (configFormat(config_id) === undefined) {
    throw badRequest([
      {
        in: 'path',
        name: 'config_id',
        message: 'must end in .yaml, .yml, .json or .toml, which determines its format',
      },
    ]);
  }
  const parsed = await parseConfig({ config_id, content: textOf(bytes) });
  if ('fault' in parsed) throw badRequest([bodyFault(parsed.fault)]);
  // Escapes in JSON and YAML can produce characters that UTF-8 cannot encode.
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

/** Decode a file as UTF-8. Keep a byte order mark. @throws TypeError for invalid UTF-8 */
export const decodeConfig = (bytes: Uint8Array): string =>
  new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
