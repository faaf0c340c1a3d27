import { buildCommand } from '@stricli/core';
import type { CliContext } from '../context.ts';
import { completionScript, type Shell, shells } from './shell-scripts.ts';

function completion(this: CliContext, _: Record<never, never>, shell: Shell): void {
  this.process.stdout.write(completionScript(shell));
}

function shellOf(text: string): Shell {
  const found = shells.find((one) => one === text);
  if (found === undefined) throw new Error(`must be one of ${shells.join(', ')}`);
  return found;
}

export const completionCommand = buildCommand({
  func: completion,
  parameters: {
    positional: {
      kind: 'tuple',
      parameters: [
        { brief: shells.join(', '), placeholder: 'SHELL', parse: shellOf, proposeCompletions: () => shells },
      ],
    },
  },
  docs: {
    brief: 'Print what teaches a shell to complete commands and names',
    fullDescription: `Names of projects, experiments, models, configurations and data sets are those that the service has.

Examples:
  echo 'source <(mps completion bash)' >> ~/.bashrc
  mps completion zsh > "\${fpath[1]}/_mps"
  mps completion fish > ~/.config/fish/completions/mps.fish`,
  },
});
