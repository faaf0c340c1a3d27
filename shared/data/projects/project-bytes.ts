import type { TableReader } from '../table/table.ts';
import { countersKey, parseCounters } from './project.ts';

/** The project would hold more bytes than the deployment lets it. */
export class ProjectBytesError extends Error {
  override readonly name = 'ProjectBytesError';

  /**
   * @param used bytes that the project holds
   * @param more bytes that were to be added
   */
  constructor(used: number, more: number, maxBytes: number) {
    super(
      `The project holds ${used} bytes and may hold ${maxBytes}; ${more} more do not fit. Delete experiments that are no longer needed.`,
    );
  }
}

/**
 * Check that `more` bytes fit into a project. The counter of the transaction that adds them decides; this names the
 * limit, and spares the upload.
 * @throws ProjectBytesError
 */
export async function requireProjectBytes(
  records: TableReader<'records'>,
  project_id: string,
  more: number,
  maxBytes: number,
): Promise<void> {
  const item = await records.get(countersKey(project_id));
  const used = item === undefined ? 0 : parseCounters(item).bytes;
  if (more > 0 && used + more > maxBytes) throw new ProjectBytesError(used, more, maxBytes);
}
