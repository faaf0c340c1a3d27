import { parseConfig } from '../config/parse-config.ts';
import { decodeStored, unreadableConfig } from './stored-text.ts';

/** Parse the bytes of a stored configuration. @throws ServiceError `conflict` if it cannot be read */
export async function parseStored(config_id: string, bytes: Uint8Array) {
  const parsed = await parseConfig({ config_id, content: decodeStored(config_id, bytes) });
  if ('fault' in parsed) throw unreadableConfig(config_id, parsed.fault);
  return parsed;
}
