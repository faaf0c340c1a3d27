import { decodeConfig } from '../../../shared/config/check-config-file.ts';
import { ServiceError } from '../../../shared/core/service-error.ts';

/** The 409 for a configuration that is stored and cannot be read: a release before this one let it in. */
export const unreadableConfig = (config_id: string, fault: string): ServiceError =>
  new ServiceError(
    'conflict',
    `${config_id}, as it is stored, cannot be read: ${fault}. Put a file that can be read in its place, or delete it.`,
  );

/** The text of a stored configuration. @throws ServiceError `conflict` for one that is not UTF-8 */
export function decodeStored(config_id: string, bytes: Uint8Array): string {
  try {
    return decodeConfig(bytes);
  } catch {
    throw unreadableConfig(config_id, 'it is not valid UTF-8');
  }
}
