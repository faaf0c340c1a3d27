/** Whether all is tested of which `npm test` takes samples, because all takes long: so it is where files are asked for. */
export const everySample = process.env['EVERY_SAMPLE'] !== undefined;

/** One of `step`, from the first on. */
export const sampled = <const T>(all: readonly T[], step: number): T[] =>
  all.filter((_, index) => everySample || index % step === 0);
