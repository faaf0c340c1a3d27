import { decodeConfig } from '../config/check-config-file.ts';
import { ServiceError } from '../core/service-error.ts';

/** The 409 for a stored configuration that cannot be parsed. An earlier release accepted it. */
export const unreadableConfig = (config_id: string, fault: string): ServiceError =>
  new ServiceError(
    'conflict',
    `The stored ${config_id} cannot be read: ${fault}. Replace it with a valid file, or delete it.`,
  );

/** Decode the text of a stored configuration. @throws ServiceError `conflict` if it is not UTF-8 */
export function decodeStored(config_id: string, bytes: Uint8Array): string {
  try {
    return decodeConfig(bytes);
  } catch {
    throw unreadableConfig(config_id, 'it is not valid UTF-8');
  }
}
