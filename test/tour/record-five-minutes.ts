import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { readFlags } from '../../infra/command/read-flags.ts';
import { runMain } from '../../infra/command/run-main.ts';
import { openTerminal, type Terminal } from '../support/terminal.ts';

const usage = `Usage: node test/tour/record-five-minutes.ts --in CLONE
  types the README's first commands into two terminals in a fresh clone and prints what a person sees, with the seconds`;

const prompt = 'person$ ';
const patienceSeconds = 600;

/** The commands of the README's first minutes: of the terminal of the service, and of the second one. */
async function commandsOf(clone: string): Promise<{ service: string; person: string[] }> {
  const readme = await readFile(join(clone, 'README.md'), 'utf8');
  const section = readme.slice(readme.indexOf('## The first five minutes'));
  const [first = '', second = ''] = [...section.matchAll(/```bash\n(.*?)```/gs)].map(([, text = '']) => text);
  return { service: first.trim(), person: second.trim().split('\n') };
}

async function shown(terminal: Terminal, text: string, times: number): Promise<void> {
  const late = Date.now() + patienceSeconds * 1000;
  while (terminal.output().split(text).length - 1 < times) {
    if (Date.now() > late) throw new Error(`"${text}" did not appear: ${terminal.output()}`);
    await new Promise((done) => setTimeout(done, 50));
  }
}

/** `node test/tour/record-five-minutes.ts`: the README's first minutes as a transcript. */
async function record(): Promise<number> {
  const { values } = readFlags(usage, { options: { in: { type: 'string', default: '.' } } });
  const clone = resolve(values.in);
  const { service, person } = await commandsOf(clone);
  const environment = { HOME: process.env['HOME'] ?? '', PS1: prompt, npm_config_update_notifier: 'false' };
  const begun = performance.now();
  const seconds = () => ((performance.now() - begun) / 1000).toFixed(1);
  const first = openTerminal('sh -i', { folder: clone, environment });
  const second = openTerminal('sh -i', { folder: clone, environment });
  try {
    await shown(first, prompt, 1);
    first.type(`${service}\r`);
    await shown(first, 'Listening on', 1);
    process.stdout.write(
      `--- ${service}: listening after ${seconds()} s\n${stripVTControlCharacters(first.output())}\n`,
    );
    for (const [index, line] of person.entries()) {
      await shown(second, prompt, index + 1);
      second.type(`${line}\r`);
      await shown(second, prompt, index + 2);
      process.stdout.write(`--- ${line}: done after ${seconds()} s\n`);
    }
    process.stdout.write(`${second.output()}\n--- ${person.length + 1} commands, ${seconds()} s\n`);
    return 0;
  } finally {
    second.type('exit\r');
    first.type('\x03');
    await shown(first, prompt, 2);
    first.type('exit\r');
    await Promise.all([first.ended, second.ended]);
  }
}

await runMain(record);
