/** What keeps an archive from being imported, or a project from being exported, in words for whoever asked for it. */
export class ProjectArchiveError extends Error {
  override readonly name = 'ProjectArchiveError';
}

/** An {@link ProjectArchiveError} of an archive that is being read. */
export const fault = (message: string): ProjectArchiveError =>
  new ProjectArchiveError(`The archive cannot be imported: ${message}.`);
