import type { CommandFiles } from './build-command.ts';

/**
 * Return the files of the command. Run from the source tree, the first call builds them. In a bundle, files from
 * the build replace this module (`infra/service/bundle-options.ts`).
 */
export function commandFiles(): Promise<CommandFiles> {
  built ??= import('./build-command.ts').then(({ buildCommandFiles }) => buildCommandFiles());
  return built;
}

let built: Promise<CommandFiles> | undefined;
