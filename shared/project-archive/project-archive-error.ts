/** What keeps an archive from being imported, or a project from being exported, in words for whoever asked for it. */
export class ProjectArchiveError extends Error {
  override readonly name = 'ProjectArchiveError';
  /** The faults of an archive, one by one; empty for what is no fault of it. */
  readonly faults: readonly string[];

  constructor(message: string, faults: readonly string[] = []) {
    super(message);
    this.faults = faults;
  }
}

/** Most faults that a refusal names. */
export const maxFaults = 20;

/** An {@link ProjectArchiveError} of an archive that is being read. */
export function fault(...faults: readonly string[]): ProjectArchiveError {
  const more = faults.length - maxFaults;
  const named = faults.slice(0, maxFaults).join('; ');
  const rest = more > 0 ? `; and ${more} more` : '';
  return new ProjectArchiveError(`The archive cannot be imported: ${named}${rest}.`, faults);
}

/** The faults of an archive as they are found, so that a refusal names them together. */
export class Faults {
  readonly #found: string[] = [];

  /** Do something with the archive. @throws whatever is no fault of it */
  async within(work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof ProjectArchiveError) || error.faults.length === 0) throw error;
      this.#found.push(...error.faults);
    }
  }

  get isEmpty(): boolean {
    return this.#found.length === 0;
  }

  /** Whether so many were found that further ones would not be named. */
  get isFull(): boolean {
    return this.#found.length > maxFaults;
  }

  /** @throws ProjectArchiveError that names them, where there are some */
  raise(): void {
    if (!this.isEmpty) throw fault(...this.#found);
  }
}
