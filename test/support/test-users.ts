const firstId = 62_000;

/** What tests have users of their own for. */
const purposes = [
  'processes that fork all the time',
  'a command that nothing gets away from',
  'a command with few rights',
  'a command in a sandbox',
  'files open for writing',
  'a stage of the engine',
  'an environment of npm',
  'a service of their own',
  'a portable service of their own',
  'an environment of shared wheels',
] as const;

/**
 * A user of one test file alone, as root may have them: all processes of a user are ended together, so jobs, which have the
 * ids from 61,000 to 61,063, must have others, and `nobody` may be anybody.
 */
export function testUser(purpose: (typeof purposes)[number]): { uid: number; gid: number } {
  const id = firstId + purposes.indexOf(purpose);
  return { uid: id, gid: id };
}
