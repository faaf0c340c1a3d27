export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

/** What a shell runs to complete a line: the words up to the cursor stand behind it. */
export const completeWord = '__complete';

/** Each hands the words before the cursor to `mps __complete`, which answers a proposal a line. */
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
# In a folder of fpath this file is the function itself, which is called for a first proposal.
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

/** The script that teaches a shell to complete `mps`. */
export const completionScript = (shell: Shell): string => scripts[shell];
