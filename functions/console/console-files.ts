import type { ConsoleFiles } from './build-app.ts';

let built: Promise<ConsoleFiles> | undefined;

/**
 * Return the files of the console. From the source tree, build them at the first call. A bundle replaces this
 * module by the built files (`infra/service/bundle-options.ts`).
 */
export function consoleFiles(): Promise<ConsoleFiles> {
  built ??= import('./build-app.ts').then(({ buildApp }) => buildApp());
  return built;
}
