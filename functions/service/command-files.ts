import type { CommandFiles } from './build-command.ts';

/**
 * The files of the command. From the source tree they are built at the first call; a bundle has this module replaced by
 * what was built with it (`infra/service/bundle-options.ts`).
 */
export function commandFiles(): Promise<CommandFiles> {
  built ??= import('./build-command.ts').then(({ buildCommandFiles }) => buildCommandFiles());
  return built;
}

let built: Promise<CommandFiles> | undefined;
