/** What keeps an archive from being imported, or a project from being exported, in words for whoever asked for it. */
export class ArchiveFault extends Error {
  override readonly name = 'ArchiveFault';
}

/** An {@link ArchiveFault} of an archive that is being read. */
export const fault = (message: string): ArchiveFault =>
  new ArchiveFault(`The archive cannot be imported: ${message}.`);
