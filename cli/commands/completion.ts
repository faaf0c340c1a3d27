import { buildCommand } from '@stricli/core';
import type { CliContext } from '../context.ts';

const shells = ['bash', 'zsh', 'fish'] as const;

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
    brief: 'Print a script that completes commands and names in a shell',
    fullDescription: `Names of projects, experiments, models, configurations and data sets come from the service.

Examples:
  echo 'source <(mps completion bash)' >> ~/.bashrc
  mps completion zsh > "\${fpath[1]}/_mps"
  mps completion fish > ~/.config/fish/completions/mps.fish`,
  },
});

function completion(this: CliContext, _: Record<never, never>, shell: Shell): void {
  this.process.stdout.write(completionScript(shell));
}

type Shell = (typeof shells)[number];

/** Return the completion script of a shell. */
export const completionScript = (shell: Shell): string => scripts[shell];

/** Hidden command that the completion scripts call, followed by the words up to the cursor. */
export const completeWord = '__complete';

/**
 * Completion scripts. Each passes the words before the cursor to `mps __complete`, which prints one proposal a
 * line.
 */
const scripts: Readonly<Record<Shell, string>> = {
  bash: `_mps() {
  local IFS=$'\\n'
  COMPREPLY=($(mps ${completeWord} "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f1))
  [[ \${#COMPREPLY[@]} -eq 0 ]] && compopt -o default
}
complete -F _mps mps
`,
  zsh: `#compdef mps
_mps() {
  local -a proposals
  local line brief
  while IFS=$'\\t' read -r line brief; do
    proposals+=("\${line//:/\\\\:}\${brief:+:$brief}")
  done < <(mps ${completeWord} "\${(@)words[2,CURRENT]}" 2>/dev/null)
  if (( \${#proposals} )); then _describe 'mps' proposals; else _files; fi
}
# In a folder of fpath, this file is the function itself, so call it for the first proposal.
if [[ "\${funcstack[1]}" == _mps ]]; then _mps "$@"; else compdef _mps mps; fi
`,
  fish: `function __mps_complete
  set -l words (commandline -opc) (commandline -ct)
  set -l found (mps ${completeWord} $words[2..-1] 2>/dev/null)
  if test (count $found) -gt 0
    printf '%s\\n' $found
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c mps -f -a '(__mps_complete)'
`,
};

function shellOf(text: string): Shell {
  const shell = shells.find((one) => one === text);
  if (shell === undefined) throw new Error(`must be one of ${shells.join(', ')}`);
  return shell;
}
