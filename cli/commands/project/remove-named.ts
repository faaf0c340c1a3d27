import type { Command } from '@stricli/core';
import type { CliContext } from '../../context.ts';
import { projectSession } from '../../projects/project-session.ts';
import { command } from '../command.ts';
import { json, project } from '../flags.ts';

type Session = Awaited<ReturnType<typeof projectSession>>;

interface Removal {
  /** Such as "Hooks". */
  many: string;
  brief: string;
  example: string;
  /** Remove one, and return the answer. */
  remove(session: Session, name: string): Promise<unknown>;
  /** What to print for one; `… is deleted.` by default. */
  said?(name: string): string;
}

/** Build the command that removes things of a project by their names. */
export function removeNamed({ many, brief, example, remove, said = deleted }: Removal): Command<CliContext> {
  return command({
    brief,
    help: `Example:\n  ${example}`,
    args: [{ brief: `${many} to delete`, placeholder: 'NAME', parse: String, several: 1 }],
    flags: { project, json },
    async run({ project: given, json: isJson }, ...names) {
      const session = await projectSession(this, given);
      for (const name of names) {
        const removed = await remove(session, name);
        if (isJson) this.process.stdout.write(`${JSON.stringify(removed)}\n`);
        else this.printer.say(said(name));
      }
    },
  });
}

const deleted = (name: string): string => `${name} is deleted.`;
