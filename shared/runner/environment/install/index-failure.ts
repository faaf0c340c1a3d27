/**
 * Say that a package index failed, from the output of uv; undefined if it tells of something else. uv has repeated what can be
 * repeated.
 *
 * @param message what the installer itself says
 */
export function indexFailure(output: string, message: string): string | undefined {
  const [failed] =
    /(?:Request failed after \d+ retries|Failed to fetch: |error sending request)[^\n]*/.exec(output) ??
    brokenDownload(output) ??
    [];
  if (failed === undefined || /hash mismatch/i.test(output)) return undefined;
  const what = `A package index failed during the installation (${failed.trim()})`;
  return `${what}. Nothing of it was kept. Start the run again when the index answers. ${message}`;
}

/** The line about a file, if a later word says how its download broke off. Two searches, because a build may write much. */
function brokenDownload(output: string): RegExpExecArray | undefined {
  const file = /Failed to (?:download|extract|read)[^\n]*/i.exec(output);
  const isBroken =
    file !== null &&
    /error decoding response body|connection|unexpected (?:end|EOF)|timed out/i.test(
      output.slice(file.index),
    );
  return isBroken ? file : undefined;
}
