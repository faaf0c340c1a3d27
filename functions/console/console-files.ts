import type { ConsoleFiles } from './build-app.ts';

let built: Promise<ConsoleFiles> | undefined;

/**
 * The files of the console. From the source tree they are built at the first call; a bundle has this module replaced by
 * what was built with it (`infra/service/bundle-options.ts`).
 */
export function consoleFiles(): Promise<ConsoleFiles> {
  built ??= import('./build-app.ts').then(({ buildApp }) => buildApp());
  return built;
}
