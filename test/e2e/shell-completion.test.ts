import { spawnSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { completionScript } from '../../cli/commands/completion.ts';
import { mpsLauncher } from '../support/mps.ts';
import { openTerminal } from '../support/terminal.ts';

const eraseLine = '\x15';

/** Whether a shell is installed. */
const isThere = (shell: string): boolean => spawnSync(shell, ['-c', 'true']).status === 0;

let home: string;
let environment: Record<string, string>;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'mps-completion-'));
  const launcher = join(home, 'bin/mps');
  await mkdir(join(home, 'bin'));
  await mkdir(join(home, 'functions'));
  await writeFile(launcher, `#!/bin/sh\nexec '${process.execPath}' '${mpsLauncher}' "$@"\n`);
  await chmod(launcher, 0o755);
  await writeFile(join(home, 'notes.txt'), '');
  await writeFile(join(home, 'bashrc'), `PS1='ready> '\n${completionScript('bash')}`);
  await writeFile(join(home, 'functions/_mps'), completionScript('zsh'));
  const prepared = 'autoload -U compinit && compinit -u -D';
  await writeFile(join(home, '.zshrc'), `PS1='ready> '\nfpath=(~/functions $fpath)\n${prepared}\n`);
  const fish = join(home, '.config/fish');
  await mkdir(join(fish, 'completions'), { recursive: true });
  await writeFile(join(fish, 'completions/mps.fish'), completionScript('fish'));
  await writeFile(
    join(fish, 'config.fish'),
    "set fish_greeting\nfunction fish_prompt; echo 'ready> '; end\n",
  );
  environment = {
    HOME: home,
    ZDOTDIR: home,
    MPS_CHECKOUT: home,
    PATH: `${home}/bin:${process.env['PATH'] ?? ''}`,
  };
});
afterAll(() => rm(home, { recursive: true, force: true }));

describe('completion in a terminal', () => {
  // A shell that is not installed is reported as skipped.
  for (const { shell, command } of [
    { shell: 'bash', command: 'bash --noprofile --rcfile bashrc -i' },
    { shell: 'zsh', command: 'zsh -i' },
    { shell: 'fish', command: 'fish -i' },
  ])
    test.runIf(isThere(shell))(`by ${shell}: commands, flags, files`, async () => {
      const terminal = openTerminal(command, { folder: home, environment });
      await terminal.shows('ready> ');
      terminal.type('mps rer\t');
      await terminal.shows('rerun');
      terminal.type('--det\t');
      await terminal.shows('--detach');
      terminal.type(`${eraseLine}mps config push no\t`);
      await terminal.shows('notes.txt');
      terminal.type(`${eraseLine}exit\r`);
      expect(await terminal.ended).toBe(0);
    });
});
