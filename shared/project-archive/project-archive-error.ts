/** Reason why an archive cannot be imported, or a project cannot be exported. The message is for the user. */
export class ProjectArchiveError extends Error {
  override readonly name = 'ProjectArchiveError';
  /** The faults of an archive; empty if the archive is not at fault. */
  readonly faults: readonly string[];

  constructor(message: string, faults: readonly string[] = []) {
    super(message);
    this.faults = faults;
  }
}

/** Maximum number of faults that an error message lists. */
export const maxFaults = 20;

/** A {@link ProjectArchiveError} for faults of an archive. */
export function fault(...faults: readonly string[]): ProjectArchiveError {
  const more = faults.length - maxFaults;
  const named = faults.slice(0, maxFaults).join('; ');
  const rest = more > 0 ? `; and ${more} more` : '';
  return new ProjectArchiveError(`The archive cannot be imported: ${named}${rest}.`, faults);
}

/** Collects the faults of an archive, so that one error reports them together. */
export class Faults {
  readonly #found: string[] = [];

  /** Run `work` and collect the faults of the archive. @throws any other error */
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

  /** Whether an error message would not list further faults. */
  get isFull(): boolean {
    return this.#found.length > maxFaults;
  }

  /** @throws ProjectArchiveError that lists the faults, if there are any */
  raise(): void {
    if (!this.isEmpty) throw fault(...this.#found);
  }
}
