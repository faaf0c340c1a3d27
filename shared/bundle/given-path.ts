import { dirname, resolve } from 'node:path';

/**
 * Resolve a path from a command line, relative to the caller's folder. npm runs scripts in the folder of
 * `package.json`, and passes the caller's in `INIT_CWD`.
 * @param cwd folder in which the program runs
 * @returns an absolute path
 */
export function givenPath(
  path: string,
  { INIT_CWD, npm_package_json }: NodeJS.ProcessEnv = process.env,
  cwd: string = process.cwd(),
): string {
  // A program that a script starts in another folder inherits the variable. Its own folder counts then.
  const isScript = npm_package_json !== undefined && dirname(npm_package_json) === cwd;
  return resolve(isScript && INIT_CWD !== undefined ? INIT_CWD : cwd, path);
}
