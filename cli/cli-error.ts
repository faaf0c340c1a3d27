/** Exit codes of the command besides those of the programs that `mps run` follows. */
export const exitCodes = {
  failure: 1,
  /** Wrong flags or arguments. */
  usage: 2,
  /** The service cannot be reached. */
  unreachable: 3,
  notSignedIn: 4,
  /** Ended by Ctrl-C. */
  interrupted: 130,
} as const;

/** An error that the person at the terminal can fix; its message says how. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly exitCode: number;

  constructor(message: string, exitCode: number = exitCodes.failure) {
    super(message);
    this.exitCode = exitCode;
  }
}
